// Robust fidelity (Zheng et al., "Towards Robust Fidelity for Evaluating Explainability of Graph
// Neural Networks", ICLR 2024): fidelity on graphs that lose only some edges, so that the model is
// not asked about graphs unlike any it has seen. S = explanation, y = the model's class on G:
//
//   Fid_{alpha1,+} = p_G[y] - E p_{G - E_alpha1(S)}[y]         E_a(H): each edge of H independently
//   Fid_{alpha2,-} = p_G[y] - E p_{S + E_alpha2(G - S)}[y]     with probability a
//
// So alpha1 is the chance that an edge of the explanation is removed, alpha2 the chance that an
// edge outside is KEPT; (1, 0) is the usual fidelity. By label, [argmax = y] stands for p[y]. The
// authors' defaults are 0.1, 0.9 and 50 samples.
#pragma once

#include <cstdint>
#include <span>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/metrics/fidelity.h"

namespace pgexplainer {

struct RobustFidelityOptions {
  double alpha1 = 0.1;
  double alpha2 = 0.9;
  int samples = 50;

  template <class Visitor>
  static void fields(Visitor&& field) {
    using O = RobustFidelityOptions;
    field("alpha1", &O::alpha1, Bounds{0, 1}, "chance that an explanation edge is removed (fid+)");
    field("alpha2", &O::alpha2, Bounds{0, 1}, "chance that another edge is kept (fid-)");
    field("samples", &O::samples, Bounds{1, 1e9}, "random graphs per instance");
  }
};

struct RobustFidelity {
  Fidelity label, probability;
};

/// Of one instance (the mean over rows, should the input give several). explanation[e] != 0 marks
/// the edges of S, by edge id; an undirected edge belongs to S if one of its directions does, and
/// is removed as a whole (reverse as in edge_pairs). Random numbers are keyed by (seed, instance):
/// an instance sees the same samples whatever is computed before it.
RobustFidelity robust_fidelity(GnnRun& run, const GnnInput<float>& input,
                               std::span<const std::uint8_t> explanation,
                               std::span<const EdgeId> reverse, std::uint64_t seed,
                               std::uint32_t instance, const RobustFidelityOptions& options = {});

}  // namespace pgexplainer
