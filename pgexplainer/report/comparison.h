// One method on one model, over several seeds: fitted where it learns, explained, judged, timed.
// What `evaluate` prints and `reproduce` tabulates.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pgexplainer/metrics/evaluation.h"

namespace pgexplainer {

struct ComparedMethod {
  std::string method;
  nlohmann::json options = nullptr;       ///< the method's own; null = defaults
  const ExplainedModel* model = nullptr;  ///< what it explains (ATT has a network of its own)
  Explainer* fitted = nullptr;            ///< use this one and do not fit
};

struct ComparisonOptions {
  std::int64_t seeds = 1;  ///< for methods that draw random numbers; others run once
  std::uint64_t first_seed = 0;
  bool held_out = true;      ///< also fit on one half of the instances, and judge on the other
  bool faithfulness = true;  ///< judge without ground truth, too
  bool timing = true;
  SelectionOptions selection;
};

struct MethodResult {
  std::string method;
  std::vector<std::uint64_t> seeds;
  std::vector<double> pooled_auc, per_instance_auc, own_motif_auc;  ///< one per seed
  std::vector<double> held_out_auc, held_out_own_motif_auc;  ///< likewise, of methods that learn
  GroundTruthAgreement ground_truth;                         ///< of the first seed
  Faithfulness faithfulness;                                 ///< of the first seed
  Verdict verdict;  ///< of the first seed; held out: on instances that who learns has not seen
  double truth_first_gap = std::numeric_limits<double>::quiet_NaN();  ///< beside the verdict's gap
  double stability = 0;                  ///< mean Spearman of the scores between seeds
  double fit_seconds = 0;                ///< mean over seeds
  double milliseconds_per_instance = 0;  ///< one thread, from the dataset to the scores
  std::vector<std::string> warnings;
  std::vector<Explanation> explanations;  ///< of the first seed
};

MethodResult run_method(const ComparedMethod& method, std::span<const Instance> instances,
                        const ComparisonOptions& options, ThreadPool& pool,
                        const Progress& progress = {});

double mean(std::span<const double> values);                ///< NaN if empty
double standard_deviation(std::span<const double> values);  ///< of the population

/// NaN, which JSON cannot say, becomes null.
nlohmann::ordered_json number_or_null(double value);
nlohmann::ordered_json to_json(const MethodResult& result);

}  // namespace pgexplainer
