// Signed ids index unsigned containers in one visible place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgexplainer {

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace pgexplainer
