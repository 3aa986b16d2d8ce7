#include "pgexplainer/io/npz.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/file_bytes.h"
#include "tests/support/raw_npz.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

using Shape = std::vector<std::int64_t>;

void save_with_numpy(const std::filesystem::path& path, const std::string& arguments,
                     const std::string& function = "savez") {
  const std::string command = "/usr/bin/python3 -c \"import numpy as np; np." + function + "('" +
                              path.string() + "', " + arguments + ")\"";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

bool have_numpy() { return std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0; }

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

RC_GTEST_PROP(Npz, WhatIsWrittenIsRead, ()) {
  const TemporaryFolder folder;
  const auto path = folder / "a.npz";
  const auto rows = *rc::gen::inRange<std::int64_t>(0, 5);
  const auto cols = *rc::gen::inRange<std::int64_t>(0, 5);
  const auto count = static_cast<std::size_t>(rows * cols);
  const auto doubles =
      *rc::gen::container<std::vector<double>>(count, rc::gen::arbitrary<double>());
  const auto longs =
      *rc::gen::container<std::vector<std::int64_t>>(count, rc::gen::arbitrary<std::int64_t>());
  const auto bytes =
      *rc::gen::container<std::vector<std::uint8_t>>(count, rc::gen::inRange<std::uint8_t>(0, 2));
  const auto number = *rc::gen::arbitrary<float>();
  write_npz(path, {{"d", NpyArray::from(std::span<const double>(doubles), {rows, cols})},
                   {"l", NpyArray::from(longs)},
                   {"mask", NpyArray::from_mask(bytes)},
                   {"s", NpyArray::from_scalar(number)}});
  const NpzArrays read = read_npz(path);
  RC_ASSERT(read.names() == (std::vector<std::string>{"d", "l", "mask", "s"}));
  RC_ASSERT(read.shape("d") == (Shape{rows, cols}));
  RC_ASSERT(read.vector<double>("d") == doubles);
  RC_ASSERT(read.vector<std::int64_t>("l") == longs);
  RC_ASSERT(read.array("mask").dtype == "|b1");
  RC_ASSERT(read.list<std::uint8_t>("mask") == bytes);
  RC_ASSERT(read.scalar<float>("s") == number);
  const Matrix<double> matrix = read.matrix<double>("d");
  RC_ASSERT(matrix.rows() == rows && matrix.cols() == cols);
  if (count > 0) RC_ASSERT(matrix(rows - 1, cols - 1) == doubles.back());
}

TEST(Npz, WritesTheSameBytesTwice) {
  const TemporaryFolder folder;
  const std::map<std::string, NpyArray> arrays{{"b", NpyArray::from(std::vector<double>{1.5, 2})},
                                               {"a", NpyArray::from(std::vector<std::int64_t>{})}};
  write_npz(folder / "1.npz", arrays);
  write_npz(folder / "2.npz", arrays);
  EXPECT_EQ(read_file_bytes(folder / "1.npz"), read_file_bytes(folder / "2.npz"));
}

TEST(Npz, NumpyLoadsWhatWeWrite) {
  if (!have_numpy()) GTEST_SKIP() << "NumPy is not installed";
  const TemporaryFolder folder;
  write_npz(folder / "a.npz", {{"x", NpyArray::from(Matrix<float>(Matrix<float>::Ones(2, 3)))},
                               {"y", NpyArray::from(std::vector<std::int64_t>{4, -5})},
                               {"m", NpyArray::from_mask({0, 1})},
                               {"e", NpyArray::from(std::vector<double>{})},
                               {"s", NpyArray::from_scalar(2.5)}});
  std::ofstream(folder / "check.py")
      << "import numpy as np, sys\n"
         "z = np.load(sys.argv[1], allow_pickle=False)\n"
         "assert sorted(z.files) == ['e', 'm', 's', 'x', 'y']\n"
         "assert z['x'].dtype == np.float32 and (z['x'] == np.ones((2, 3))).all()\n"
         "assert z['y'].tolist() == [4, -5] and z['m'].tolist() == [False, True]\n"
         "assert z['e'].shape == (0,) and z['s'].shape == () and z['s'] == 2.5\n";
  const std::string command =
      "/usr/bin/python3 " + (folder / "check.py").string() + " " + (folder / "a.npz").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(Npz, ReadsWhatNumpyWrites) {
  if (!have_numpy()) GTEST_SKIP() << "NumPy is not installed";
  const TemporaryFolder folder;
  for (const std::string function : {"savez", "savez_compressed"}) {
    const auto path = folder / (function + ".npz");
    save_with_numpy(path,
                    "f=np.arange(6, dtype='f4').reshape(2, 3), h=np.array([0.5, -2], dtype='f2'), "
                    "u=np.array([1, 65535], dtype='u2'), s=np.int64(7), t=np.array(['a', 'bc']), "
                    "c=np.arange(100000), z=np.zeros((0, 4))",
                    function);
    const NpzArrays read = read_npz(path);
    EXPECT_EQ(read.matrix<float>("f")(1, 2), 5.0F);
    EXPECT_EQ(read.vector<float>("h"), (std::vector<float>{0.5F, -2}));
    EXPECT_EQ(read.vector<std::int32_t>("u"), (std::vector<std::int32_t>{1, 65535}));
    EXPECT_EQ(read.scalar<double>("s"), 7.0);
    EXPECT_EQ(read.vector<std::int64_t>("c").back(), 99999);
    EXPECT_EQ(read.matrix<double>("z").cols(), 4);
    EXPECT_NE(message_of([&] { (void)read.vector<float>("t"); }).find("array t has the type '<U2'"),
              std::string::npos);
  }
}

TEST(Npz, MapsWhatWeWroteAndCopiesTheRest) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> numbers{4, -5, 6};
  write_npz(folder / "a.npz", {{"n", NpyArray::from(numbers)},
                               {"odd", NpyArray::from(std::vector<std::uint8_t>{1, 2, 3})},
                               {"w", NpyArray::from(std::vector<float>{0.5F})}});
  Array<std::int64_t> kept;
  {
    const NpzArrays read = read_npz(folder / "a.npz");
    for (const std::string& name : read.names()) {
      EXPECT_TRUE(read.array(name).mapped) << name;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read.array(name).data.data()) % 64, 0U) << name;
    }
    kept = read.shared<std::int64_t>("n");
    EXPECT_EQ(static_cast<const void*>(kept.data()), read.array("n").data.data());
    const auto converted = read.shared<std::int32_t>("n");
    EXPECT_NE(static_cast<const void*>(converted.data()), read.array("n").data.data());
    EXPECT_TRUE(std::ranges::equal(converted, numbers));
  }
  std::filesystem::remove(folder / "a.npz");
  EXPECT_TRUE(std::ranges::equal(kept, numbers));  // the array keeps the mapping alive
  write_raw_zip(folder / "b.npz", {{"n.npy", raw_npy("<i8", "(3,)", raw_values(numbers))}},
                ZIP_CM_DEFLATE);
  const NpzArrays packed = read_npz(folder / "b.npz");
  EXPECT_FALSE(packed.array("n").mapped);
  EXPECT_TRUE(std::ranges::equal(packed.shared<std::int64_t>("n"), numbers));
}

TEST(Npz, ComparesTheChecksumOfMappedArrays) {
  const TemporaryFolder folder;
  write_npz(folder / "a.npz", {{"n", NpyArray::from(std::vector<std::int64_t>{4, -5, 0x1234567})}});
  patch_file(folder / "a.npz", "\x67\x45\x23\x01", "\x67\x45\x22\x01");
  EXPECT_EQ(message_of([&] { (void)read_npz(folder / "a.npz"); }),
            (folder / "a.npz").string() + ": array n is damaged: its checksum is another");
}

TEST(Npz, StacksRows) {
  const TemporaryFolder folder;
  const std::array rows{NpyArray::from(std::vector<std::int32_t>{1, 2, 3}),
                        NpyArray::from(std::vector<std::int32_t>{4, 5, 6})};
  NpzArrayWriter writer(folder / "a.npz");
  writer.add_stacked("m", rows);
  writer.commit();
  const NpzArrays read = read_npz(folder / "a.npz");
  EXPECT_EQ(read.shape("m"), (Shape{2, 3}));
  EXPECT_EQ(read.vector<std::int32_t>("m"), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npz, RefusesConversionsThatLoseTheValue) {
  const TemporaryFolder folder;
  const auto path = folder / "a.npz";
  write_npz(path, {{"f", NpyArray::from(std::vector<float>{1, 2})},
                   {"big", NpyArray::from(std::vector<std::int64_t>{1, 300, 1LL << 40})},
                   {"d", NpyArray::from(std::vector<double>{1e300})}});
  const NpzArrays read = read_npz(path);
  EXPECT_THROW((void)read.vector<std::int64_t>("f"), Error);
  EXPECT_THROW((void)read.vector<std::uint8_t>("big"), Error);
  EXPECT_EQ(message_of([&] { (void)read.vector<std::int32_t>("big"); }),
            path.string() +
                ": array big has the value 1099511627776 at position 2, which does not "
                "fit <i4");
  EXPECT_THROW((void)read.vector<float>("d"), Error);
  EXPECT_EQ(read.vector<double>("big").back(), std::ldexp(1.0, 40));
}

TEST(Npz, KeepsTexts) {
  const TemporaryFolder folder;
  const std::vector<std::string> texts{"C", "", "Cl", "\u00e4\u20ac", "\U0001F600"};
  write_npz(folder / "a.npz", {{"t", NpyArray::from_texts(texts)}});
  EXPECT_EQ(read_npz(folder / "a.npz").texts("t"), texts);
  EXPECT_EQ(read_npz(folder / "a.npz").array("t").dtype, "<U2");
}

TEST(Npz, NamesTheArrayThatIsMissingOrOfAnotherShape) {
  const TemporaryFolder folder;
  const auto path = folder / "a.npz";
  write_npz(path, {{"x", NpyArray::from(std::vector<float>{1, 2})}});
  const NpzArrays read = read_npz(path);
  EXPECT_EQ(message_of([&] { (void)read.vector<float>("y"); }),
            path.string() + ": there is no array y; the arrays are: x");
  EXPECT_EQ(message_of([&] { (void)read.matrix<float>("x"); }),
            path.string() + ": array x has shape (2,), expected 2 dimensions");
  EXPECT_THROW((void)read.scalar<float>("x"), Error);
}

TEST(Npz, ReadsThePublishedFiles) {
  const std::filesystem::path path = "../shared/data/ba_shapes.npz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const NpzArrays read = read_npz(path);
  EXPECT_EQ(read.shape("edge_index"), (Shape{2, 4110}));
  EXPECT_EQ(read.matrix<float>("x").sum(), 7000.0F);
  EXPECT_EQ(read.vector<std::uint8_t>("edge_gt").size(), 4110U);
}

}  // namespace
}  // namespace pgexplainer
