#include "pgexplainer/io/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/file_bytes.h"

namespace pgexplainer {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    throw_failed("OpenSSL cannot compute SHA-256");
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + length, ""));
}

std::string sha256_of_file(const std::filesystem::path& path) {
  return sha256(read_file_text(path));
}

}  // namespace pgexplainer
