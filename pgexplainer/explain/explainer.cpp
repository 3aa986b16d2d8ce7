#include "pgexplainer/explain/explainer.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/softmax_cross_entropy.h"

namespace pgexplainer {
namespace {

/// What a rank tells all others after each block: an error, or what the block was like.
struct BlockReport {
  std::optional<Error> error;
  double seconds = 0;
  std::size_t bytes = 0;
  ExplainTotals totals;

  [[nodiscard]] std::string text() const {
    nlohmann::json json = {seconds, bytes, totals.instances, totals.kept_class, totals.sampled};
    if (error)
      json = {{"bad_input", error->kind() == Error::Kind::bad_input}, {"what", error->what()}};
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  static BlockReport from(const std::string& text) {
    const nlohmann::json json = nlohmann::json::parse(text);
    BlockReport report;
    if (json.is_object()) {
      report.error.emplace(json["bad_input"] ? Error::Kind::bad_input : Error::Kind::failed,
                           json["what"].get<std::string>());
    } else {
      report.seconds = json[0];
      report.bytes = json[1];
      report.totals = {json[2], json[3], json[4]};
    }
    return report;
  }
};

/// Everybody's, in the order of ranks; throws the first error, on every rank.
std::vector<BlockReport> exchange(Communicator& communicator, const BlockReport& mine) {
  std::vector<BlockReport> all;
  for (const std::string& text : communicator.all_gather(mine.text())) {
    all.push_back(BlockReport::from(text));
    if (all.back().error) throw *all.back().error;
  }
  return all;
}

/// Runs the action; what it throws is for exchange().
template <class Action>
void catch_into(std::optional<Error>& error, const Action& action) {
  try {
    action();
  } catch (const Error& thrown) {
    error = thrown;
  } catch (const std::bad_alloc&) {
    error.emplace(Error::Kind::failed, "out of memory; a lower --max-edges needs less");
  } catch (const std::exception& thrown) {
    error.emplace(Error::Kind::failed, thrown.what());
  }
}

/// Blocks of some 0.3 s, so that progress is seen and Ctrl-C is heard, and of some megabytes.
std::size_t next_block(std::size_t block, const std::vector<BlockReport>& reports) {
  double seconds = 1e-9;
  std::size_t bytes = 0;
  for (const BlockReport& report : reports) {
    seconds = std::max(seconds, report.seconds);
    bytes += report.bytes;
  }
  const bool smaller = seconds > 0.6 || bytes > (std::size_t{64} << 20);
  const bool larger = seconds < 0.15 && bytes < (std::size_t{16} << 20);
  const std::size_t growth = seconds < 0.02 ? 8 : 2;  // every block waits for its last instance
  return std::clamp<std::size_t>(smaller ? block / 2 : larger ? growth * block : block, 1, 1 << 14);
}

}  // namespace

/// One thread's memory.
struct PreparedExplainer::Thread {
  InstanceCutter cutter;
  InstanceGraph graph;
  std::unique_ptr<GnnRun> run;
  std::vector<float> mask;
  Explanation explanation;

  explicit Thread(const ExplainedModel& model)
      : cutter(model.new_cutter()), run(model.gnn().new_run()) {}

  void explain(const Explainer& explainer, const Instance& instance, const ExplainOptions& options);
};

// Every part of the explanation before is written over, so that its memory serves again.
void PreparedExplainer::Thread::explain(const Explainer& explainer, const Instance& instance,
                                        const ExplainOptions& options) {
  cutter.cut(instance, graph);
  explanation.instance = instance;
  explanation.sampled = graph.sampled;
  explanation.nodes = graph.nodes;
  explanation.edges = graph.edges;
  explanation.reverse = graph.reverse;
  const auto in_dataset = [&](const std::vector<NodeId>& local, std::vector<NodeId>& result) {
    result.resize(local.size());
    for (std::size_t k = 0; k < local.size(); ++k) result[k] = graph.nodes[at(local[k])];
  };
  in_dataset(graph.targets, explanation.targets);
  in_dataset(graph.source, explanation.source);
  in_dataset(graph.target, explanation.target);
  Scores scores = explainer.score(graph, *run);
  explanation.score = std::move(scores.edge);
  explanation.feature_score = std::move(scores.feature);
  if (options.merge_directions) merge_directions(explanation);
  explanation.selected = select_edges(explanation, options.selection);
  explanation.prediction = predict(graph, *run, {});
  mask.assign(explanation.selected.begin(), explanation.selected.end());
  explanation.prediction_kept = predict(graph, *run, mask);
  for (float& m : mask) m = 1.0F - m;
  explanation.prediction_removed = predict(graph, *run, mask);
}

PreparedExplainer::PreparedExplainer(const ExplainedModel& model, Explainer& explainer,
                                     std::span<const Instance> instances, ThreadPool& pool)
    : model_(model), explainer_(explainer) {
  if (const Support support = explainer.supports(model); !support)
    throw_bad_input("{} cannot explain this model: {}", explainer.method(), support.reason);
  explainer.prepare(model, instances, pool);
}

PreparedExplainer::~PreparedExplainer() = default;

void PreparedExplainer::explain(std::span<const Instance> instances, const ExplainOptions& options,
                                ThreadPool& pool,
                                const std::function<void(std::size_t, Explanation&&)>& take) {
  if (threads_.size() < at(pool.size())) threads_.resize(at(pool.size()));
  // Many instances are small ones, and go by several: what is taken of neighbours lies in the same
  // lines of the cache.
  const std::size_t count = instances.size();
  const std::size_t several = std::clamp<std::size_t>(count / (128 * at(pool.size())), 1, 16);
  const auto run = [&] {
    pool.run(static_cast<std::int64_t>((count + several - 1) / several),
             [&](std::int64_t piece, int worker) {
               auto& own = threads_[at(worker)];
               if (!own) own = std::make_unique<Thread>(model_);
               const std::size_t first = at(piece) * several;
               for (std::size_t i = first; i < std::min(first + several, count); ++i) {
                 own->explain(explainer_, instances[i], options);
                 take(i, std::move(own->explanation));
               }
             });
  };
  // The caller has, as a rule, read the network and the data. Its memory for instances would lie
  // between their parts, in the same lines of the cache, and all threads would wait for these. A
  // thread for each call would leave such memory behind, for others to use. Here and not in the
  // pool, for the short steps of a fit are not worth a change of threads.
  if (pool.size() > 1) {
    if (!own_thread_) own_thread_ = std::make_unique<StandingThread>();
    own_thread_->run(run);
  } else {
    run();
  }
}

Explanation PreparedExplainer::explain(const Instance& instance, const ExplainOptions& options) {
  ThreadPool this_thread(1);
  Explanation result;
  explain(std::span(&instance, 1), options, this_thread,
          [&](std::size_t, Explanation&& one) { result = std::move(one); });
  return result;
}

Prediction predict(const InstanceGraph& instance, GnnRun& run, std::span<const float> mask) {
  const Matrix<float> row = run.forward(instance.input(), mask).row(instance.logit_row);
  const Matrix<float> p = softmax(row);
  return {{p.data(), p.data() + p.size()}};
}

std::vector<Explanation> explain(const ExplainedModel& model, Explainer& explainer,
                                 std::span<const Instance> instances, const ExplainOptions& options,
                                 ThreadPool& pool) {
  PreparedExplainer prepared(model, explainer, instances, pool);
  std::vector<Explanation> all(instances.size());
  prepared.explain(instances, options, pool,
                   [&](std::size_t i, Explanation&& one) { all[i] = std::move(one); });
  return all;
}

Verdict judge(const ExplainedModel& model, const Explainer& explainer,
              std::span<const Instance> instances, std::span<const Explanation> explanations,
              ThreadPool& pool) {
  std::vector<Explanation> in_common_order;
  if (const auto common = explainer.in_common_order())
    in_common_order = explain(model, *common, instances, {}, pool);
  return judge(model, explanations, pool, in_common_order);
}

void explain(const ExplainedModel& model, Explainer& explainer, std::span<const Instance> instances,
             const ExplainOptions& options, const Workers& workers, const EncodeExplanation& encode,
             const TakeEncoded& take, const Progress& progress) {
  PreparedExplainer prepared(model, explainer, instances, workers.pool);
  Communicator& communicator = workers.communicator;
  const std::size_t rank = at(communicator.rank()), ranks = at(communicator.size());
  std::optional<Error> error;  // of handing over, which the others hear of in the next exchange
  ExplainTotals totals;
  std::size_t block = 16;  // instances per rank
  struct Encoded {
    std::string bytes;
    bool kept_class = false, sampled = false;
  };
  std::vector<Encoded> encoded;
  for (std::size_t begin = 0; begin < instances.size();) {
    const std::size_t end = std::min(begin + ranks * block, instances.size());
    const std::size_t first = std::min(begin + rank * block, end);
    const auto own = instances.subspan(first, std::min(block, end - first));
    const auto start = std::chrono::steady_clock::now();
    ExplainTotals own_totals{static_cast<std::int64_t>(own.size()), 0, 0};
    std::string bytes;
    if (!error)
      catch_into(error, [&] {
        encoded.assign(own.size(), {});
        prepared.explain(own, options, workers.pool, [&](std::size_t i, Explanation&& one) {
          encoded[i].kept_class =
              one.prediction.predicted_class() == one.prediction_kept.predicted_class();
          encoded[i].sampled = one.sampled;
          encoded[i].bytes = encode(first + i, std::move(one));
        });
        for (const Encoded& each : encoded) {
          bytes += each.bytes;
          own_totals.kept_class += each.kept_class ? 1 : 0;
          own_totals.sampled += each.sampled ? 1 : 0;
        }
      });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const auto reports = exchange(communicator, {error, seconds.count(), bytes.size(), own_totals});
    const std::vector<std::string> blocks = communicator.gather(bytes);  // rank 0: all
    for (const BlockReport& report : reports) {
      totals.instances += report.totals.instances;
      totals.kept_class += report.totals.kept_class;
      totals.sampled += report.totals.sampled;
    }
    catch_into(error, [&] {
      bytes.clear();
      for (const std::string& each : blocks) bytes += each;
      if (communicator.is_root()) take(bytes, totals);
      if (!report_progress(progress, totals.instances, static_cast<std::int64_t>(instances.size()),
                           explainer.method()) &&
          end < instances.size())
        throw_failed("interrupted after {} of {} instances", totals.instances, instances.size());
    });
    begin = end;
    block = next_block(block, reports);
  }
  exchange(communicator, {error, 0, 0, {}});
}

}  // namespace pgexplainer
