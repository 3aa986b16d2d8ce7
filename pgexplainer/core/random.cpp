#include "pgexplainer/core/random.h"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pgexplainer {

std::array<std::uint32_t, 4> philox(std::uint64_t seed,
                                    const std::array<std::uint32_t, 4>& counter) {
  const r123::Philox4x32::ctr_type in = {{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x32::key_type key = {
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const auto out = r123::Philox4x32()(in, key);
  return {out[0], out[1], out[2], out[3]};
}

std::uint32_t RandomStream::operator()() {
  if (used_ == 4) {
    block_ = philox(seed_, counter_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

std::uint64_t RandomStream::next64() {
  const std::uint64_t high = (*this)();
  return (high << 32) | (*this)();
}

double RandomStream::uniform() { return (static_cast<double>(next64() >> 12) + 0.5) * 0x1p-52; }

void RandomStream::uniforms(std::span<float> numbers) {
  used_ = 4;
  for (std::size_t i = 0; i < numbers.size(); i += 4) {
    const std::array<std::uint32_t, 4> block = philox(seed_, counter_);
    ++counter_[0];
    for (std::size_t k = 0; k < std::min<std::size_t>(4, numbers.size() - i); ++k)
      numbers[i + k] = (static_cast<float>(block[k] >> 9) + 0.5F) * 0x1p-23F;
  }
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  // Lemire's multiplication method: reject the few values that would make some results more likely.
  auto product = static_cast<unsigned __int128>(next64()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = -bound % bound;
    while (static_cast<std::uint64_t>(product) < threshold)
      product = static_cast<unsigned __int128>(next64()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace pgexplainer
