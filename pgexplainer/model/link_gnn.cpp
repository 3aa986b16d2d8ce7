#include "pgexplainer/model/link_gnn.h"

#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/model/two_class_gnn.h"

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

class LinkGnn final : public TwoClassGnn {
 public:
  using TwoClassGnn::TwoClassGnn;

  [[nodiscard]] std::unique_ptr<GnnRun> new_run() const override {
    return std::make_unique<LinkRun>(network().new_run());
  }
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
