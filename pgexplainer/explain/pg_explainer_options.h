// Everything that can be set about PGExplainer, and named settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pgexplainer/core/option_fields.h"

namespace pgexplainer {

struct PGExplainerOptions {
  // Both objectives.
  std::string objective = "ranking";
  std::int64_t epochs = 50;
  double lr = 3e-3;
  std::vector<std::int64_t> hidden = {64};
  std::string embedding = "all-layers";
  std::int64_t batch_size = 0;
  double clip_value = 0.0;
  std::int64_t samples = 1;
  double tau_start = 5.0;
  double tau_end = 5.0;
  double init_bias = 0.0;
  std::int64_t restarts = 2;
  double holdout = 0.2;
  bool verdict = true;
  std::int64_t patience = 0;
  std::string score = "omega";
  std::int64_t refine = -1;
  bool features = false;
  // The ranking objective.
  bool company = true;
  std::int64_t sharpen = 100;
  std::int64_t order_epochs = 200;
  std::vector<double> necessity = {0, 0.03, 0.1, 0.3, 1};
  double necessity_floor = 0.1;
  double keep_share_min = 0.05;
  double keep_share_max = 0.9;
  double remove_share_min = 0.02;
  double remove_share_max = 0.9;
  // The paper's objective.
  std::string target = "soft";
  std::string schedule = "share";
  double sample_bias = 0.0;
  double size = 0.05;
  std::string size_term = "sum";
  double entropy = 1.0;
  std::string entropy_term = "mean";
  double budget = 0.0;
  double budget_weight = 0.0;
  double connectivity = 0.0;
  std::string connectivity_term = "mean";
  bool symmetric = true;
  bool sample_mean = true;
  std::string reduction = "mean";

  template <class Visitor>
  static void fields(Visitor&& field) {
    using O = PGExplainerOptions;
    field("objective", &O::objective, Bounds{},
          "ranking: keep and remove at random sparsities; paper: Eq. (9) with regularisers");
    field("epochs", &O::epochs, Bounds{1, 1e9}, "passes over the instances");
    field("lr", &O::lr, Bounds{0, 1e3}, "learning rate of Adam");
    field("hidden", &O::hidden, Bounds{1, 65536}, "hidden widths of the explanation network");
    field(
        "embedding", &O::embedding, Bounds{},
        "what z is: all-layers (long rows shortened), classifier-input (the layers "
        "that the classifier reads, as released), last-layer (as printed) or last-convolution (as "
        "in PyG)");
    field("batch_size", &O::batch_size, Bounds{0, 1e12}, "instances per step; 0 = all");
    field("clip_value", &O::clip_value, Bounds{0, 1e30},
          "largest entry of a gradient; 0 = no limit");
    field("samples", &O::samples, Bounds{1, 1e6}, "K, sampled graphs per instance and step");
    field("tau_start", &O::tau_start, Bounds{1e-3, 1e6}, "tau_0, the temperature at the start");
    field("tau_end", &O::tau_end, Bounds{1e-3, 1e6}, "tau_T, the temperature at the end");
    field("init_bias", &O::init_bias, Bounds{-1e3, 1e3},
          "of omega before training: above 0 starts near the full graph");
    field("restarts", &O::restarts, Bounds{0, 100},
          "how often to begin anew when the held-out check fails");
    field("holdout", &O::holdout, Bounds{0, 0.9},
          "share of the instances that only check the fit (none if fewer than 3 would)");
    field("verdict", &O::verdict, Bounds{},
          "judge the explanations of held-out instances (of at most a thousand)");
    field("patience", &O::patience, Bounds{0, 1e9},
          "stop after so many epochs without a better held-out objective; 0 = never");
    field("score", &O::score, Bounds{},
          "what edges are ranked by: omega, or sigmoid (as released; saturates)");
    field(
        "refine", &O::refine, Bounds{-1, 1e6},
        "steps that put the edges of each explained instance in the order its own prediction asks "
        "for: more faithful, slower; -1 = what the fit found necessary, often none");
    field("features", &O::features, Bounds{},
          "also learn which features matter to the population (Appendix D)");
    field("company", &O::company, Bounds{},
          "ranking, graphs: a kept part should keep its class beside a graph of another class (not "
          "if graphs are read out as sums)");
    field(
        "sharpen", &O::sharpen, Bounds{0, 1e9},
        "ranking, graphs in company: go on with whole edges for at most so many epochs, until the "
        "scores are as faithful as gradients; else the most faithful stay; 0 = try weights");
    field(
        "order_epochs", &O::order_epochs, Bounds{0, 1e9},
        "ranking: epochs of a second network, which learns the order of edges within an instance; "
        "0 = none");
    field("necessity", &O::necessity, Bounds{0, 1e9},
          "ranking: weights of removing against keeping, tried in turn until the scores are as "
          "faithful as gradients; else the most faithful stay; with --sharpen the first");
    field("necessity_floor", &O::necessity_floor, Bounds{0, 1e9},
          "ranking: least weight of removing for a class that is predicted without any edge");
    field("keep_share_min", &O::keep_share_min, Bounds{1e-6, 0.999999},
          "ranking: smallest kept share of edges");
    field("keep_share_max", &O::keep_share_max, Bounds{1e-6, 0.999999},
          "ranking: largest kept share of edges");
    field("remove_share_min", &O::remove_share_min, Bounds{1e-6, 0.999999},
          "ranking: smallest removed share of edges");
    field("remove_share_max", &O::remove_share_max, Bounds{1e-6, 0.999999},
          "ranking: largest removed share of edges");
    field("target", &O::target, Bounds{},
          "paper: soft (the model's P(Y|G), Eq. 6), class (its argmax) or label (the data's)");
    field("schedule", &O::schedule, Bounds{},
          "paper: exponent of the temperature: share (epoch/epochs, as released) or epoch (as "
          "printed)");
    field("sample_bias", &O::sample_bias, Bounds{0, 0.5},
          "paper: epsilon is uniform in [bias, 1 - bias]; 0.5 = no noise");
    field("size", &O::size, Bounds{0, 1e9}, "paper: weight of the size term");
    field("size_term", &O::size_term, Bounds{},
          "paper: sum of the sampled mask (as released), mean of it, or omega (l1 norm, as "
          "printed)");
    field("entropy", &O::entropy, Bounds{0, 1e9}, "paper: weight of the entropy term");
    field("entropy_term", &O::entropy_term, Bounds{},
          "paper: mean over the edges, or nodes-squared (over all pairs of nodes, as released)");
    field("budget", &O::budget, Bounds{0, 1e15}, "paper: B of Eq. (12)");
    field("budget_weight", &O::budget_weight, Bounds{0, 1e9}, "paper: weight of Eq. (12)");
    field("connectivity", &O::connectivity, Bounds{0, 1e9}, "paper: weight of Eq. (13)");
    field("connectivity_term", &O::connectivity_term, Bounds{},
          "paper: mean or sum over pairs of adjacent edges");
    field("symmetric", &O::symmetric, Bounds{},
          "paper: both directions of an edge share the mean of their masks");
    field("sample_mean", &O::sample_mean, Bounds{},
          "paper: divide by K (Eq. 6); off = sum over samples (Eq. 9)");
    field("reduction", &O::reduction, Bounds{}, "paper: mean or sum (Eq. 9) over instances");
  }
};

/// Throws, naming the option, unless every word is known and the bounds hold.
void check_options(const PGExplainerOptions& options);

/// The names of the presets: default, paper, mean-size, authors-ba-shapes, ...
std::vector<std::string> preset_names();
PGExplainerOptions preset(std::string_view name);

}  // namespace pgexplainer
