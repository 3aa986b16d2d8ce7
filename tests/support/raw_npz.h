// .npz files byte by byte, for the ones no writer would make.
#pragma once

#include <gtest/gtest.h>
#include <zip.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "pgexplainer/io/file_bytes.h"

namespace pgexplainer {

/// An .npy array of version 1.0 with this dictionary.
inline std::string raw_npy(const std::string& dictionary, const std::string& data) {
  const std::string header = dictionary + "\n";
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() % 256);
  start += static_cast<char>(header.size() / 256);
  return start + header + data;
}

inline std::string raw_npy(const std::string& dtype, const std::string& shape,
                           const std::string& data) {
  return raw_npy("{'descr': '" + dtype + "', 'fortran_order': False, 'shape': " + shape + ", }",
                 data);
}

template <class T>
std::string raw_values(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline void write_raw_zip(const std::filesystem::path& path,
                          const std::map<std::string, std::string>& files,
                          zip_int32_t method = ZIP_CM_STORE) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  ASSERT_NE(archive, nullptr);
  for (const auto& [name, data] : files) {
    zip_source_t* source = zip_source_buffer(archive, data.data(), data.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, 0);
    ASSERT_GE(index, 0);
    ASSERT_EQ(zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 0), 0);
  }
  ASSERT_EQ(zip_close(archive), 0);
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

/// Replaces every occurrence of `from`, of which there must be some, by `to` of the same length.
inline void patch_file(const std::filesystem::path& path, const std::string& from,
                       const std::string& to) {
  ASSERT_EQ(from.size(), to.size());
  std::string text = read_file_text(path);
  std::size_t count = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    text.replace(at, from.size(), to);
    ++count;
  }
  ASSERT_GT(count, 0U) << "nothing to patch";
  write_text(path, text);
}

}  // namespace pgexplainer
