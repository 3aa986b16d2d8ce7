#include "pgexplainer/io/crc32.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <vector>

#include "pgexplainer/core/random.h"

namespace pgexplainer {
namespace {

TEST(Crc32, AgreesWithZlib) {
  std::vector<std::byte> bytes(20'000'003);  // several pieces, the last one short
  RandomStream random(1, RandomPurpose::test);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xFF);
  const auto expect_same = [&](std::size_t begin, std::size_t size, std::uint32_t before) {
    EXPECT_EQ(crc32(std::span(bytes).subspan(begin, size), before),
              ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()) + begin, size))
        << begin << " " << size;
  };
  for (std::size_t size = 0; size < 300; ++size) expect_same(size % 7, size, random());
  expect_same(0, bytes.size(), 0);
  expect_same(1, bytes.size() - 1, 12345);
}

}  // namespace
}  // namespace pgexplainer
