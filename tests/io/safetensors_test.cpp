#include "pgexplainer/io/safetensors.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

void write_raw(const std::filesystem::path& path, const std::string& header,
               const std::string& body) {
  const std::uint64_t length = header.size();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(&length), 8)
      .write(header.data(), static_cast<std::streamsize>(header.size()))
      .write(body.data(), static_cast<std::streamsize>(body.size()));
}

RC_GTEST_PROP(Safetensors, WhatIsWrittenIsRead, ()) {
  const TemporaryFolder folder;
  Safetensors content;
  const std::vector<std::pair<std::string, std::int64_t>> types{
      {"F32", 4}, {"F64", 8}, {"I64", 8}, {"I32", 4}, {"U8", 1}, {"BOOL", 1}};
  const auto count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    const auto& [dtype, width] = types[*rc::gen::inRange<std::size_t>(0, types.size())];
    std::int64_t size = width;
    auto shape =
        *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 4));
    shape.resize(std::min<std::size_t>(shape.size(), 4));
    for (const std::int64_t extent : shape) size *= extent;
    std::vector<std::byte> data(static_cast<std::size_t>(size));
    for (auto& byte : data) byte = static_cast<std::byte>(*rc::gen::inRange(0, 256));
    content.tensors["layer." + std::to_string(i)] = {dtype, shape, data};
  }
  content.metadata["text"] = *rc::gen::string<std::string>();
  // JSON carries text, not bytes.
  for (char& c : content.metadata["text"]) c = static_cast<char>(c & 0x7F);
  write_safetensors(folder / "m.safetensors", content);
  const Safetensors read = read_safetensors(folder / "m.safetensors");
  RC_ASSERT(read.metadata == content.metadata);
  RC_ASSERT(read.tensors.size() == content.tensors.size());
  for (const auto& [name, tensor] : content.tensors) {
    RC_ASSERT(read.tensors.at(name).dtype == tensor.dtype);
    RC_ASSERT(read.tensors.at(name).shape == tensor.shape);
    RC_ASSERT(read.tensors.at(name).data == tensor.data);
  }
  write_safetensors(folder / "again.safetensors", read);
  RC_ASSERT(read_file_bytes(folder / "again.safetensors") ==
            read_file_bytes(folder / "m.safetensors"));
}

TEST(Safetensors, AlignsHeaderAndTensors) {
  const TemporaryFolder folder;
  const auto path = folder / "m.safetensors";
  write_safetensors(path, {{{"a", {"U8", {3}, std::vector<std::byte>(3)}},
                            {"b", {"F64", {}, std::vector<std::byte>(8)}}},
                           {}});
  const std::string text = read_file_text(path);
  const std::string header = R"({"a":{"data_offsets":[8,11],"dtype":"U8","shape":[3]},)"
                             R"("b":{"data_offsets":[0,8],"dtype":"F64","shape":[]}})";
  EXPECT_EQ(text.substr(8, header.size()), header);
  EXPECT_EQ((text.size() - 11) % 8, 0U);
}

TEST(Safetensors, RefusesToWriteDataOfAnotherSize) {
  const TemporaryFolder folder;
  EXPECT_THROW(
      write_safetensors(folder / "m", {{{"a", {"F32", {2}, std::vector<std::byte>(4)}}}, {}}),
      Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Safetensors, ReadsAFileOfAnotherWriter) {
  const TemporaryFolder folder;
  write_raw(folder / "m", R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}} )", "\x01\x02");
  const Safetensors read = read_safetensors(folder / "m");
  EXPECT_EQ(read.tensors.at("w").data[1], std::byte{2});
}

struct Broken {
  const char* name;
  const char* header;
  const char* complaint;
};

class BrokenSafetensors : public testing::TestWithParam<Broken> {};

TEST_P(BrokenSafetensors, IsRefusedWithTheReason) {
  const TemporaryFolder folder;
  write_raw(folder / "m", GetParam().header, "01234567");
  try {
    (void)read_safetensors(folder / "m");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::bad_input);
    EXPECT_NE(std::string(error.what()).find(GetParam().complaint), std::string::npos)
        << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Headers, BrokenSafetensors,
    testing::Values(
        Broken{"Json", R"({"a":)", "not a JSON object"}, Broken{"List", "[]", "not a JSON object"},
        Broken{"Dtype", R"({"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}})", "type 'F16'"},
        Broken{"NoDtype", R"({"a":{"shape":[8],"data_offsets":[0,8]}})", "no dtype"},
        Broken{"NoShape", R"({"a":{"dtype":"U8","data_offsets":[0,8]}})", "no list shape"},
        Broken{"Size", R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "needs 12"},
        Broken{"Negative", R"({"a":{"dtype":"U8","shape":[-8],"data_offsets":[0,8]}})", "negative"},
        Broken{"Huge",
               R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
               "impossibly large"},
        Broken{"Fraction", R"({"a":{"dtype":"U8","shape":[8.0],"data_offsets":[0,8]}})",
               "whole number"},
        Broken{"Order", R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[8,0]}})", "data_offsets"},
        Broken{"Outside", R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", "truncated"},
        Broken{"Overlap",
               R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},)"
               R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
               "tensor b overlaps"},
        Broken{"Hole",
               R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
               R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
               "hole after byte 3"},
        Broken{"Rest", R"({"a":{"dtype":"U8","shape":[6],"data_offsets":[0,6]}})", "2 bytes after"},
        Broken{"Twice",
               R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},)"
               R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
               "'a' twice"},
        Broken{"Metadata",
               R"({"__metadata__":{"k":1},"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
               "'k' is not a string"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace pgexplainer
