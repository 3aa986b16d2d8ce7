// What networks of two classes on top of another network share: all but how they are evaluated.
#pragma once

#include <memory>
#include <utility>

#include "pgexplainer/model/gnn.h"

namespace pgexplainer {

/// The network below in everything but the classes; whoever derives from it makes the runs.
class TwoClassGnn : public Gnn {
 public:
  explicit TwoClassGnn(std::shared_ptr<const Gnn> network) : network_(std::move(network)) {}

  [[nodiscard]] Task task() const override { return network_->task(); }
  [[nodiscard]] Index num_features() const override { return network_->num_features(); }
  [[nodiscard]] Index num_classes() const override { return 2; }
  [[nodiscard]] int num_hops() const override { return network_->num_hops(); }
  [[nodiscard]] std::array<bool, 2> reads_gcn_norm() const override {
    return network_->reads_gcn_norm();
  }
  [[nodiscard]] Matrix<float> embed(const GnnInput<float>& input, Embedding kind) const override {
    return network_->embed(input, kind);
  }
  [[nodiscard]] Matrix<float> attention(const GnnInput<float>& input) const override {
    return network_->attention(input);
  }
  [[nodiscard]] int num_attention_layers() const override {
    return network_->num_attention_layers();
  }
  [[nodiscard]] bool keeps_bits_in_parts() const override {
    return network_->keeps_bits_in_parts();
  }

 protected:
  [[nodiscard]] const Gnn& network() const { return *network_; }

 private:
  std::shared_ptr<const Gnn> network_;
};

}  // namespace pgexplainer
