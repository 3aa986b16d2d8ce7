// What was published: the tables of the paper, and the results that the authors' notebooks show.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace pgexplainer {

inline constexpr double kNotPublished = std::numeric_limits<double>::quiet_NaN();

struct PublishedDataset {
  std::string name;   ///< as the command line calls it
  std::string title;  ///< as the paper calls it
  std::int64_t graphs, nodes, edges, labels;
  std::array<double, 3> accuracy;     ///< of the GNN: train, validation, test
  std::map<std::string, double> auc;  ///< by method
  double auc_std;                     ///< of PGExplainer
  double notebook_auc;                ///< one run
  double gnn_explainer_ms, pg_explainer_ms;
};

/// In the paper's order.
inline const std::vector<PublishedDataset>& published_datasets() {
  static const std::vector<PublishedDataset> all{
      {"ba-shapes",
       "BA-Shapes",
       1,
       700,
       4110,
       4,
       {0.98, 1.00, 0.97},
       {{"grad", 0.882}, {"att", 0.815}, {"gnnexplainer", 0.925}, {"pgexplainer", 0.963}},
       0.011,
       0.99973,
       650.60,
       10.92},
      {"ba-community",
       "BA-Community",
       1,
       1400,
       8920,
       8,
       {0.99, 0.88, 0.93},
       {{"grad", 0.750}, {"att", 0.739}, {"gnnexplainer", 0.836}, {"pgexplainer", 0.945}},
       0.019,
       0.97091,
       696.61,
       24.07},
      {"tree-cycles",
       "Tree-Cycles",
       1,
       871,
       1950,
       2,
       {0.99, 1.00, 0.99},
       {{"grad", 0.905}, {"att", 0.824}, {"gnnexplainer", 0.948}, {"pgexplainer", 0.987}},
       0.007,
       0.99797,
       690.13,
       6.36},
      {"tree-grid",
       "Tree-Grid",
       1,
       1231,
       3410,
       2,
       {0.92, 0.94, 0.94},
       {{"grad", 0.612}, {"att", 0.667}, {"gnnexplainer", 0.875}, {"pgexplainer", 0.907}},
       0.014,
       0.94043,
       713.40,
       6.72},
      {"ba-2motifs",
       "BA-2motifs",
       1000,
       25000,
       51392,
       2,
       {1.00, 1.00, 1.00},
       {{"grad", 0.717},
        {"att", 0.674},
        {"gradient", 0.773},
        {"gnnexplainer", 0.742},
        {"pgexplainer", 0.926}},
       0.021,
       0.99461,
       934.72,
       80.13},
      {"mutagenicity",
       "MUTAG",
       4337,
       131488,
       266894,
       2,
       {0.87, 0.89, 0.87},
       {{"grad", 0.783},
        {"att", 0.765},
        {"gradient", 0.653},
        {"gnnexplainer", 0.727},
        {"pgexplainer", 0.873}},
       0.013,
       0.89465,
       409.98,
       9.68},
  };
  return all;
}

}  // namespace pgexplainer
