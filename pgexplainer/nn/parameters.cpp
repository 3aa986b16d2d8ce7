#include "pgexplainer/nn/parameters.h"

#include <algorithm>
#include <cmath>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/random.h"

namespace pgexplainer {

Slot ParameterLayout::add(const std::string& name, const std::vector<std::int64_t>& shape,
                          Init init, bool trainable) {
  // (1, heads, channels) of the attention vectors is a heads x channels matrix.
  const Index cols = shape.empty() ? 1 : shape.back();
  Index rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  if (const Parameter* shared = find(name)) {
    if (shared->shape != shape)
      throw_bad_input("two layers are both named after {} but differ in shape; give them two names",
                      name);
    return {shared->offset, rows, cols};
  }
  const auto count = static_cast<std::size_t>(rows * cols);
  parameters_.push_back({name, shape, size_, count, trainable, init});
  size_ += count;
  return {parameters_.back().offset, rows, cols};
}

const Parameter* ParameterLayout::find(const std::string& name) const {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [&](const Parameter& p) { return p.name == name; });
  return found == parameters_.end() ? nullptr : &*found;
}

template <class T>
std::vector<T> initial_values(const ParameterLayout& layout, std::uint64_t seed) {
  std::vector<T> theta(layout.size(), T(0));
  std::uint32_t index = 0;
  for (const Parameter& p : layout.parameters()) {
    RandomStream random(seed, RandomPurpose::initialise, index++);
    T* value = theta.data() + p.offset;
    std::fill(value, value + p.size, static_cast<T>(p.init.value));
    if (p.init.random) {
      const auto n = p.shape.size();
      const auto fans = static_cast<double>(p.shape[n - 1] + (n > 1 ? p.shape[n - 2] : 1));
      const double limit = std::sqrt(6.0 / fans);
      for (std::size_t i = 0; i < p.size; ++i)
        value[i] = static_cast<T>(limit * (2.0 * random.uniform() - 1.0));
    }
  }
  return theta;
}

template std::vector<float> initial_values(const ParameterLayout&, std::uint64_t);
template std::vector<double> initial_values(const ParameterLayout&, std::uint64_t);

}  // namespace pgexplainer
