#include "pgexplainer/metrics/robust_fidelity.h"

#include <algorithm>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/metrics/edge_pairs.h"

namespace pgexplainer {

RobustFidelity robust_fidelity(GnnRun& run, const GnnInput<float>& input,
                               std::span<const std::uint8_t> explanation,
                               std::span<const EdgeId> reverse, std::uint64_t seed,
                               std::uint32_t instance, const RobustFidelityOptions& options) {
  check_option_fields(options);
  const std::vector<EdgePair> pairs = edge_pairs(input.graph, reverse);
  for (const EdgePair& pair : pairs)
    if (at(std::max(pair.first, pair.second)) >= explanation.size())
      throw_bad_input("the explanation has {} entries, but edge {} is there", explanation.size(),
                      std::max(pair.first, pair.second));

  Predictions<float> logits;
  logits.full = run.forward(input, {});
  RobustFidelity sum{{0.0, 0.0}, {0.0, 0.0}};
  std::vector<float> without(explanation.size(), 1.0F), with(explanation.size(), 1.0F);
  for (int sample = 0; sample < options.samples; ++sample) {
    RandomStream random(seed, RandomPurpose::robust_fidelity, instance,
                        static_cast<std::uint32_t>(sample));
    for (const EdgePair& pair : pairs) {
      // S and the rest share no edge, so that one draw per edge serves both sampled graphs.
      const double u = random.uniform();
      const bool explains = explanation[at(pair.first)] != 0 ||
                            (pair.second != kNoEdge && explanation[at(pair.second)] != 0);
      const float stays_without = explains && u < options.alpha1 ? 0.0F : 1.0F;
      const float stays_with = explains || u < options.alpha2 ? 1.0F : 0.0F;
      without[at(pair.first)] = stays_without;
      with[at(pair.first)] = stays_with;
      if (pair.second == kNoEdge) continue;
      without[at(pair.second)] = stays_without;
      with[at(pair.second)] = stays_with;
    }
    logits.complement = run.forward(input, without);
    logits.masked = run.forward(input, with);
    const Fidelity label = fidelity_by_label(logits);
    const Fidelity probability = fidelity_by_probability(logits);
    sum.label.plus += label.plus;
    sum.label.minus += label.minus;
    sum.probability.plus += probability.plus;
    sum.probability.minus += probability.minus;
  }
  const double n = options.samples;
  return {{sum.label.plus / n, sum.label.minus / n},
          {sum.probability.plus / n, sum.probability.minus / n}};
}

}  // namespace pgexplainer
