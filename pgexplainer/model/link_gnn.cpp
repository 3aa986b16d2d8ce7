#include "pgexplainer/model/link_gnn.h"

#include <utility>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

class LinkRun : public GnnRun {
 public:
  explicit LinkRun(std::unique_ptr<GnnRun> encoder) : encoder_(std::move(encoder)) {}

  const Matrix<float>& forward(const GnnInput<float>& input,
                               std::span<const float> edge_mask) override {
    const Matrix<float>& rows = encoder_->forward(input, edge_mask);
    if (rows.rows() != 2)
      throw_bad_input(
          "a network for links was given {} nodes, expected the two ends of a link; name instances "
          "as pairs of nodes",
          rows.rows());
    h_ = rows;
    float product = 0;
    for (Index j = 0; j < h_.cols(); ++j) product += h_(0, j) * h_(1, j);
    logits_.resize(1, 2);
    logits_ << 0.0F, product;
    return logits_;
  }

  void backward(const Matrix<float>& dlogits, std::span<float> dmask, Matrix<float>* dx) override {
    dh_.resize(2, h_.cols());
    dh_.row(0) = dlogits(0, 1) * h_.row(1);
    dh_.row(1) = dlogits(0, 1) * h_.row(0);
    encoder_->backward(dh_, dmask, dx);
  }
  const Matrix<float>& embed(const GnnInput<float>& input, Embedding kind) override {
    return encoder_->embed(input, kind);
  }

 private:
  std::unique_ptr<GnnRun> encoder_;
  Matrix<float> h_, dh_;  ///< of the two ends
  Matrix<float> logits_;
};

class LinkGnn : public Gnn {
 public:
  explicit LinkGnn(std::shared_ptr<const Gnn> encoder) : encoder_(std::move(encoder)) {}

  [[nodiscard]] Task task() const override { return Task::node; }
  [[nodiscard]] Index num_features() const override { return encoder_->num_features(); }
  [[nodiscard]] Index num_classes() const override { return 2; }
  [[nodiscard]] int num_hops() const override { return encoder_->num_hops(); }
  [[nodiscard]] std::array<bool, 2> reads_gcn_norm() const override {
    return encoder_->reads_gcn_norm();
  }
  [[nodiscard]] Matrix<float> embed(const GnnInput<float>& input, Embedding kind) const override {
    return encoder_->embed(input, kind);
  }
  [[nodiscard]] Matrix<float> attention(const GnnInput<float>& input) const override {
    return encoder_->attention(input);
  }
  [[nodiscard]] int num_attention_layers() const override {
    return encoder_->num_attention_layers();
  }
  [[nodiscard]] bool keeps_bits_in_parts() const override {
    return encoder_->keeps_bits_in_parts();
  }
  [[nodiscard]] std::unique_ptr<GnnRun> new_run() const override {
    return std::make_unique<LinkRun>(encoder_->new_run());
  }

 private:
  std::shared_ptr<const Gnn> encoder_;
};

}  // namespace

std::unique_ptr<Gnn> make_link_gnn(std::shared_ptr<const Gnn> encoder) {
  if (encoder->task() != Task::node)
    throw_bad_input("links are predicted from a network for nodes, this one classifies graphs");
  if (encoder->num_hops() == Gnn::kWholeGraph)
    throw_bad_input(
        "links cannot be predicted from a network whose output at a node depends on every node; "
        "leave out normalisation over the whole graph");
  return std::make_unique<LinkGnn>(std::move(encoder));
}

}  // namespace pgexplainer
