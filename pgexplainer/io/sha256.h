// SHA-256 (FIPS 180-4) of bytes, as 64 hexadecimal digits; OpenSSL does the work.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace pgexplainer {

std::string sha256(std::string_view bytes);
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace pgexplainer
