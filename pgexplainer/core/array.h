// A read-only array that owns its values or lies in memory that something else keeps alive: a
// mapped file, say, which every process of a machine then shares.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pgexplainer {

/// Used like a std::span<const T>, which it converts to. Copies share the values.
template <class T>
class Array {
 public:
  Array() = default;
  Array(std::vector<T>&& values) {
    const auto owned = std::make_shared<const std::vector<T>>(std::move(values));
    values_ = *owned;
    owner_ = owned;
  }
  /// The values live at least as long as `owner`; without an owner, the caller sees to it.
  Array(std::span<const T> values, std::shared_ptr<const void> owner)
      : values_(values), owner_(std::move(owner)) {}

  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }
  [[nodiscard]] const T* data() const { return values_.data(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] const T& operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }

 private:
  std::span<const T> values_;
  std::shared_ptr<const void> owner_;
};

}  // namespace pgexplainer
