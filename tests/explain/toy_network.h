// A smooth network of a mask, small enough to differentiate by hand: logits = W tanh(U mask).
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "pgexplainer/core/index.h"
#include "tests/support/gradient_check.h"

namespace pgexplainer {

class ToyNetwork {
 public:
  ToyNetwork(std::size_t edges, std::size_t classes, std::uint64_t seed) {
    RandomStream random(seed, RandomPurpose::test);
    inner_ = random_matrix(4, static_cast<Index>(edges), random);
    outer_ = random_matrix(static_cast<Index>(classes), 4, random);
  }

  std::span<const double> forward(std::span<const double> mask) {
    hidden_.assign(4, 0.0);
    logits_.assign(at(outer_.rows()), 0.0);
    for (Index h = 0; h < 4; ++h) {
      double sum = 0;
      for (Index e = 0; e < inner_.cols(); ++e) sum += inner_(h, e) * mask[at(e)];
      hidden_[at(h)] = std::tanh(sum);
    }
    for (Index c = 0; c < outer_.rows(); ++c)
      for (Index h = 0; h < 4; ++h) logits_[at(c)] += outer_(c, h) * hidden_[at(h)];
    return logits_;
  }
  void backward(std::span<const double> dlogits, std::span<double> dmask) {
    for (Index h = 0; h < 4; ++h) {
      double d = 0;
      for (Index c = 0; c < outer_.rows(); ++c) d += outer_(c, h) * dlogits[at(c)];
      d *= 1.0 - hidden_[at(h)] * hidden_[at(h)];
      for (Index e = 0; e < inner_.cols(); ++e) dmask[at(e)] += inner_(h, e) * d;
    }
  }

 private:
  Matrix<double> inner_, outer_;
  std::vector<double> hidden_, logits_;
};

}  // namespace pgexplainer
