// Opening, reading and mapping whole files, with the reason when that is not possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pgexplainer/core/array.h"

namespace pgexplainer {

/// Throws unless `path` is a readable, regular, non-empty file; returns its size.
std::uint64_t check_readable_file(const std::filesystem::path& path);

/// The bytes where the system keeps them, shared by all processes that map the file; nothing is
/// read before it is used. The file must not be shortened or rewritten in place while they are in
/// use (our own writers never do); replacing it by renaming is safe.
Array<std::byte> map_file_bytes(const std::filesystem::path& path);

std::vector<std::byte> read_file_bytes(const std::filesystem::path& path);
std::string read_file_text(const std::filesystem::path& path);

}  // namespace pgexplainer
