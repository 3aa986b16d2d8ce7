// Where the numbers of a network live: one flat vector, so that the optimiser, the sum over threads
// and the file format see a single array, and layers are descriptions that hold only offsets into
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pgexplainer/core/matrix.h"

namespace pgexplainer {

/// How a parameter starts.
struct Init {
  bool random = false;  ///< Glorot, the paper's "Xavier": uniform in +-sqrt(6 / (fan_in + fan_out))
  double value = 0.0;   ///< else this constant

  static constexpr Init glorot() { return {true, 0.0}; }
  static constexpr Init constant(double value) { return {false, value}; }
};

struct Parameter {
  std::string name;  ///< PyG's state_dict name
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;
  std::size_t size = 0;
  bool trainable = true;  ///< false: a buffer, such as running_mean
  Init init;
};

/// A matrix inside the flat vector; vectors have one row.
struct Slot {
  std::size_t offset = 0;
  Index rows = 0;
  Index cols = 0;

  [[nodiscard]] bool exists() const { return rows > 0; }
  template <class T>
  ConstMatrixView<T> in(const T* theta) const {
    return {theta + offset, rows, cols};
  }
  template <class T>
  MatrixView<T> in(T* theta) const {
    return {theta + offset, rows, cols};
  }
};

class ParameterLayout {
 public:
  /// A name used before is shared; it must have the same shape.
  Slot add(const std::string& name, const std::vector<std::int64_t>& shape, Init init,
           bool trainable = true);

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] std::size_t size() const { return size_; }  ///< of the flat vector
  [[nodiscard]] const Parameter* find(const std::string& name) const;

 private:
  std::vector<Parameter> parameters_;
  std::size_t size_ = 0;
};

/// Fresh values for every parameter; a function of the seed alone.
template <class T>
std::vector<T> initial_values(const ParameterLayout& layout, std::uint64_t seed);

}  // namespace pgexplainer
