// PGExplainer (Luo et al., "Parameterized Explainer for Graph Neural Network", NeurIPS 2020): one
// explanation network, trained once over a population of instances (Algorithms 1 and 2), then able
// to explain any instance, also of graphs it has never seen.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pgexplainer/explain/edge_scorer.h"
#include "pgexplainer/explain/explainer.h"
#include "pgexplainer/explain/order_network.h"
#include "pgexplainer/explain/pg_explainer_options.h"

namespace pgexplainer {

class PGExplainer final : public Explainer {
 public:
  /// Throws if an option is out of bounds.
  PGExplainer(PGExplainerOptions options, std::uint64_t seed);

  /// What fitting leaves behind; the whole of a fitted explainer together with options and seed.
  struct Fitted {
    Index embedding_width = 0;
    int num_targets = 0;                 ///< 0 graphs, 1 nodes, 2 links
    std::vector<float> theta;            ///< Psi, as EdgeScorer lays it out
    std::vector<float> feature_logits;   ///< empty = features were not asked for
    std::vector<float> order{};          ///< parameters of the order network; empty = none
    Index num_levels = 0;                ///< of the order network
    std::int64_t refine = 0;             ///< steps that the option refine leaves to the fit
    std::optional<double> rival_lead{};  ///< likewise, of rival_order.h; none = no rivals
  };
  PGExplainer(PGExplainerOptions options, std::uint64_t seed, Fitted fitted);

  [[nodiscard]] const PGExplainerOptions& options() const { return options_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// The option `refine`, which explaining reads and fitting does not.
  void set_refine(std::int64_t steps);
  /// Steps of refinement per explanation: the option, or what the fit found necessary.
  [[nodiscard]] std::int64_t refine_steps() const;
  /// By how much a rival's order may be more faithful, likewise; none = by any.
  [[nodiscard]] std::optional<double> rival_lead() const;
  /// Throws unless fitted.
  [[nodiscard]] const Fitted& fitted() const;

  [[nodiscard]] std::string_view method() const override { return "pgexplainer"; }
  [[nodiscard]] Support supports(const ExplainedModel& model) const override;
  FitReport fit(const ExplainedModel& model, std::span<const Instance> instances,
                const Workers& workers, const Progress& progress) override;
  void prepare(const ExplainedModel& model, std::span<const Instance> instances,
               ThreadPool& pool) override;
  [[nodiscard]] std::unique_ptr<Explainer> in_common_order() const override;
  [[nodiscard]] bool reads_structure_alone() const override;
  [[nodiscard]] Scores score(const InstanceGraph& instance, GnnRun& run) const override;

 private:
  void use_fitted();
  /// Whether each instance has an order of its own.
  [[nodiscard]] bool orders_instances() const;
  void check_width(const Matrix<float>& z) const;
  /// Hands out the scores of an instance in its own order.
  void put_in_order(const InstanceGraph& instance, const Matrix<float>& z,
                    const Matrix<float>& order_projections, std::span<const NodeId> row,
                    GnnRun& run, std::vector<float>& score) const;

  PGExplainerOptions options_;
  std::uint64_t seed_;
  std::optional<Fitted> fitted_;
  std::optional<EdgeScorer<float>> scorer_;
  Matrix<float> weight_;  // the first layer's, transposed
  std::optional<OrderNetwork> order_;
  // Of all nodes of the data that prepare() saw; empty = each instance makes its own.
  Matrix<float> z_, projections_, order_projections_;
  bool embeds_around_ = false;             // each instance from its part of the graph
  const ExplainedModel* model_ = nullptr;  // that prepare() saw
};

}  // namespace pgexplainer
