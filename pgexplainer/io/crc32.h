// CRC-32 of zip entries at the speed of memory: folding by carry-less multiplication (Gopal et al.,
// "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009) where
// the processor can, on all cores; otherwise zlib's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pgexplainer {

/// Of these bytes behind those that have the sum `before`.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace pgexplainer
