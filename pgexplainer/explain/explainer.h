// What every explanation method offers: say what it cannot do, learn from a population if it
// learns, and score the edges of an instance.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pgexplainer/core/progress.h"
#include "pgexplainer/explain/explained_model.h"
#include "pgexplainer/explain/explanation.h"
#include "pgexplainer/explain/verdict.h"
#include "pgexplainer/parallel/standing_thread.h"
#include "pgexplainer/parallel/workers.h"

namespace pgexplainer {

/// Whether a method can explain a model; if not, why not and what to do.
struct Support {
  std::string reason;  ///< empty = it can
  explicit operator bool() const { return reason.empty(); }
};

/// What fitting has become.
struct FitReport {
  std::vector<double> loss;           ///< the objective after each epoch, mean over instances
  std::vector<std::string> warnings;  ///< what a user should know before trusting the scores
  int restarts = 0;                   ///< fits that were begun anew
  double necessity = 0;               ///< of the ranking objective: the weight that was chosen
  std::int64_t sharpened = 0;         ///< of the ranking objective: epochs with whole edges
  std::int64_t refine = 0;            ///< steps of refinement that explanations take by default
  std::optional<double> rival_lead;   ///< by which they let rivals be ahead (rival_order.h)
  bool held_out = false;  ///< whether the verdict is about instances that were not trained on
  std::optional<Verdict> verdict;  ///< on held-out instances, if the options ask for it
};

/// Scores of one instance, higher = more important.
struct Scores {
  std::vector<float> edge;     ///< one per local edge
  std::vector<float> feature;  ///< one per feature; empty = not explained
};

class Explainer {
 public:
  virtual ~Explainer() = default;

  /// The name used by --method.
  [[nodiscard]] virtual std::string_view method() const = 0;
  /// Asked before any work.
  [[nodiscard]] virtual Support supports(const ExplainedModel&) const { return {}; }
  /// Learns from a population of instances. Methods that explain each instance for itself need not.
  virtual FitReport fit(const ExplainedModel&, std::span<const Instance>, const Workers&,
                        const Progress&) {
    return {};
  }
  /// Computes what these instances share; called once before their score(). The model must outlive
  /// that.
  virtual void prepare(const ExplainedModel&, std::span<const Instance>, ThreadPool&) {}
  /// The same method in the order that instances have in common, if it orders each for itself; null
  /// = it does not.
  [[nodiscard]] virtual std::unique_ptr<Explainer> in_common_order() const { return nullptr; }
  /// Whether score() needs InstanceCutter::cut_structure() of an instance only.
  [[nodiscard]] virtual bool reads_structure_alone() const { return false; }
  /// Scores the edges of an instance. Called from several threads, each with a run of its own.
  [[nodiscard]] virtual Scores score(const InstanceGraph& instance, GnnRun& run) const = 0;
};

struct ExplainOptions {
  SelectionOptions selection;
  bool merge_directions = true;  ///< of undirected graphs: both get the mean score
};

/// A method ready to explain instances of one model, call after call: what they share is computed
/// once, and every thread keeps its memory. The model and the explainer must outlive it; fitting or
/// preparing the explainer again ends its use.
class PreparedExplainer {
 public:
  /// `instances` are those to come, or as many like them. Throws if the method does not support the
  /// model.
  PreparedExplainer(const ExplainedModel& model, Explainer& explainer,
                    std::span<const Instance> instances, ThreadPool& pool);
  ~PreparedExplainer();

  /// Calls take(i, explanation of instances[i]) on any thread, in any order.
  void explain(std::span<const Instance> instances, const ExplainOptions& options, ThreadPool& pool,
               const std::function<void(std::size_t, Explanation&&)>& take);
  /// One instance, on this thread; for services. Not from several threads at once.
  [[nodiscard]] Explanation explain(const Instance& instance, const ExplainOptions& options = {});

 private:
  struct Thread;
  const ExplainedModel& model_;
  const Explainer& explainer_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::unique_ptr<StandingThread> own_thread_;
};

/// Explanations of all instances. Throws if the method does not support the model.
std::vector<Explanation> explain(const ExplainedModel& model, Explainer& explainer,
                                 std::span<const Instance> instances, const ExplainOptions& options,
                                 ThreadPool& pool);

/// judge() of what a method says of these instances, and of its common order beside it.
Verdict judge(const ExplainedModel& model, const Explainer& explainer,
              std::span<const Instance> instances, std::span<const Explanation> explanations,
              ThreadPool& pool);

/// What has been explained so far.
struct ExplainTotals {
  std::int64_t instances = 0;
  std::int64_t kept_class = 0;  ///< whose predicted class the selected edges alone keep
  std::int64_t sampled = 0;     ///< of which a sample of the edges was explained
};
/// Turns the explanation of instances[position] into bytes. Called from several threads.
using EncodeExplanation = std::function<std::string(std::size_t position, Explanation&&)>;
/// Gets the bytes of the next instances, and the totals with these.
using TakeEncoded = std::function<void(std::string_view bytes, const ExplainTotals& totals)>;

/// For millions of instances: they are explained and encoded by all threads of all ranks, in blocks
/// of a fraction of a second, and handed over in order on rank 0. The bytes are the same for any
/// number of threads and ranks. What one rank throws, all throw.
void explain(const ExplainedModel& model, Explainer& explainer, std::span<const Instance> instances,
             const ExplainOptions& options, const Workers& workers, const EncodeExplanation& encode,
             const TakeEncoded& take, const Progress& progress = {});

/// The class probabilities of an instance for a mask (empty = all edges whole).
Prediction predict(const InstanceGraph& instance, GnnRun& run, std::span<const float> mask);

}  // namespace pgexplainer
