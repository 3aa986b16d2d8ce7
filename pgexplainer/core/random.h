// Counter-based random numbers (Philox 4x32-10, Salmon et al., SC 2011).
//
// A draw is a pure function of (seed, purpose, a, b, index): no state to save, the same bits on any
// number of threads, and two purposes never share a number.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace pgexplainer {

/// What a stream of random numbers is for; part of the counter, so that streams are independent.
enum class RandomPurpose : std::uint32_t {
  generate,
  split,
  initialise,
  shuffle,
  dropout,
  test,
  concrete,
  sparsity,
  explain,
  robust_fidelity,
  sample_neighbors,
  dropout_edge,
  whole_edges
};

/// 128 random bits for a 128-bit counter under a 64-bit key.
std::array<std::uint32_t, 4> philox(std::uint64_t seed,
                                    const std::array<std::uint32_t, 4>& counter);

/// The sequence of numbers of one (seed, purpose, a, b); a and b are for example epoch and
/// instance. At most 2^32 blocks of 128 bits.
class RandomStream {
 public:
  using result_type = std::uint32_t;

  RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint32_t a = 0, std::uint32_t b = 0)
      : seed_(seed), counter_{0, static_cast<std::uint32_t>(purpose), a, b} {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  std::uint32_t operator()();
  std::uint64_t next64();
  /// Uniform in the open interval (0, 1).
  double uniform();
  /// Many at once, of 23 bits: u and 1 - u are exact and never 0. Goes on at a whole block.
  void uniforms(std::span<float> numbers);
  /// Uniform in {0, ..., bound - 1}, without bias; bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Standard normal (Box-Muller).
  double normal();

  /// Fisher-Yates, the same permutation on every platform.
  template <class Container>
  void shuffle(Container& items) {
    for (auto i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t seed_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

}  // namespace pgexplainer
