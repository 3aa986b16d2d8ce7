// Opening and reading whole files, with the reason when that is not possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pgexplainer {

/// Throws unless `path` is a readable, regular, non-empty file; returns its size.
std::uint64_t check_readable_file(const std::filesystem::path& path);

std::vector<std::byte> read_file_bytes(const std::filesystem::path& path);
std::string read_file_text(const std::filesystem::path& path);

}  // namespace pgexplainer
