// What every kind of golden file shares: how far a result may be from the reference, and the one
// function per kind that compares a file.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "pgexplainer/io/npz.h"

namespace pgexplainer {

inline constexpr double kDoubleTolerance = 1e-10;  // absolute
inline constexpr double kFloatTolerance = 1e-4;  // relative to the entry, or to 1 % of the largest

inline double largest_magnitude(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

/// The worst error of one file, and where. In float, entries far below the array's largest, or
/// below 1/1000 of file_scale, are measured against those.
struct Worst {
  double file_scale = 0.0;
  double value = 0.0;
  std::string array = {};

  explicit Worst(double scale) : file_scale(scale) {}

  template <class T>
  void compare(const T* ours, const std::vector<double>& expected, const std::string& name) {
    const double scale = std::max({0.01 * largest_magnitude(expected), 0.001 * file_scale, 1e-30});
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double error = std::abs(static_cast<double>(ours[i]) - expected[i]);
      if constexpr (std::is_same_v<T, float>) error /= std::max(std::abs(expected[i]), scale);
      note(error, name);
    }
  }

  void note(double error, const std::string& name) {
    if (error <= value || std::isnan(value)) return;  // NaN is the worst of all
    value = error;
    array = name;
  }
};

/// Of one file, computed in double and in float.
struct GoldenErrors {
  Worst in_double, in_float;
};

// One function per kind of file; `name` is the file's name up to "__". They throw on what they do
// not know, so that nothing passes unseen.
GoldenErrors check_layer(const std::string& name, const NpzArrays& file);
GoldenErrors check_gnn_explainer_step(const std::string& name, const NpzArrays& file);
GoldenErrors check_metrics(const std::string& name, const NpzArrays& file);
GoldenErrors check_pg_explainer_step(const std::string& name, const NpzArrays& file);

}  // namespace pgexplainer
