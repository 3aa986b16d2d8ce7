// Large arrays that are read at random: with pages of 2 MiB instead of 4 KiB, most reads find the
// address of their page in the processor's table.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace pgexplainer {

/// Asks for huge pages for memory that has not been written yet. Only advice: nothing depends on
/// it.
inline void advise_huge_pages(void* data, std::size_t bytes) {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) / kPage * kPage;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kPage * kPage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace pgexplainer
