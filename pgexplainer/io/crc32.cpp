#include "pgexplainer/io/crc32.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "pgexplainer/parallel/pieces.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pgexplainer {
namespace {

#if defined(__x86_64__)
__attribute__((target("pclmul,sse4.1"))) __m128i fold(__m128i value, __m128i keys, __m128i next) {
  return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(value, keys, 0x00), next),
                       _mm_clmulepi64_si128(value, keys, 0x11));
}

/// For a multiple of 16 bytes, at least 64. The keys are powers of x modulo the polynomial of
/// CRC-32, bits reversed, as in the paper.
__attribute__((target("pclmul,sse4.1"))) std::uint32_t crc32_folded(const std::byte* bytes,
                                                                    std::size_t size,
                                                                    std::uint32_t before) {
  const __m128i by_four = _mm_set_epi64x(0x1C6E41596, 0x154442BD4);
  const __m128i by_one = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0);
  const auto load = [&](std::size_t at) __attribute__((target("pclmul,sse4.1"))) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + at));
  };
  __m128i a = _mm_xor_si128(load(0), _mm_cvtsi32_si128(static_cast<int>(~before)));
  __m128i b = load(16);
  __m128i c = load(32);
  __m128i d = load(48);
  std::size_t at = 64;
  for (; at + 64 <= size; at += 64) {
    a = fold(a, by_four, load(at));
    b = fold(b, by_four, load(at + 16));
    c = fold(c, by_four, load(at + 32));
    d = fold(d, by_four, load(at + 48));
  }
  a = fold(fold(fold(a, by_one, b), by_one, c), by_one, d);
  for (; at < size; at += 16) a = fold(a, by_one, load(at));

  // 128 bits to 64, then Barrett's reduction to 32.
  const __m128i low_half = _mm_setr_epi32(~0, 0, ~0, 0);
  const __m128i last = _mm_set_epi64x(0, 0x163CD6124);
  const __m128i polynomial = _mm_set_epi64x(0x1F7011641, 0x1DB710641);
  a = _mm_xor_si128(_mm_srli_si128(a, 8), _mm_clmulepi64_si128(a, by_one, 0x10));
  a = _mm_xor_si128(_mm_srli_si128(a, 4),
                    _mm_clmulepi64_si128(_mm_and_si128(a, low_half), last, 0x00));
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(a, low_half), polynomial, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low_half), polynomial, 0x00);
  return ~static_cast<std::uint32_t>(_mm_extract_epi32(_mm_xor_si128(a, quotient), 1));
}

bool can_fold() { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"); }
#else
std::uint32_t crc32_folded(const std::byte*, std::size_t, std::uint32_t before) { return before; }
constexpr bool can_fold() { return false; }
#endif

std::uint32_t crc32_on_one_core(std::span<const std::byte> bytes, std::uint32_t before) {
  if (bytes.size() >= 64 && can_fold()) {
    const std::size_t folded = bytes.size() / 16 * 16;
    before = crc32_folded(bytes.data(), folded, before);
    bytes = bytes.subspan(folded);
    if (bytes.empty()) return before;
  }
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  constexpr std::size_t kPiece = std::size_t{8} << 20;
  if (bytes.empty()) return before;  // zlib takes the null pointer of an empty span for a restart
  if (bytes.size() <= kPiece) return crc32_on_one_core(bytes, before);
  std::vector<std::uint32_t> sum((bytes.size() + kPiece - 1) / kPiece);
  for_each_piece(bytes.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    sum[begin / kPiece] = crc32_on_one_core(bytes.subspan(begin, end - begin), 0);
  });
  uLong total = before;
  for (std::size_t i = 0; i < sum.size(); ++i)
    total = ::crc32_combine(total, sum[i],
                            static_cast<z_off_t>(std::min(kPiece, bytes.size() - i * kPiece)));
  return static_cast<std::uint32_t>(total);
}

}  // namespace pgexplainer
