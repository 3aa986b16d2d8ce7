// Options are plain structs; each field is declared once, with its bounds and one line of help:
//
//   struct TrainOptions {
//     int epochs = 1000;
//     template <class Visitor>
//     static void fields(Visitor&& field) {
//       field("epochs", &TrainOptions::epochs, Bounds{1, 1e9}, "passes over the training set");
//     }
//   };
//
// The command line, JSON and the bounds check all walk the same list.
#pragma once

#include <limits>
#include <string_view>
#include <type_traits>

#include "pgexplainer/core/error.h"

namespace pgexplainer {

/// Closed interval of allowed values; ignored for strings and booleans.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// Throws if a numeric field is outside its bounds (NaN is outside every bound).
template <class Options>
void check_option_fields(const Options& options) {
  Options::fields([&](std::string_view name, auto member, Bounds bounds, std::string_view) {
    using Value = std::remove_cvref_t<decltype(options.*member)>;
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      const auto value = static_cast<double>(options.*member);
      if (!(value >= bounds.low && value <= bounds.high))
        throw_bad_input("option {} is {}, expected a value from {} to {}", name, value, bounds.low,
                        bounds.high);
    }
  });
}

}  // namespace pgexplainer
