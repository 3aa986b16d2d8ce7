// The safetensors format: 8 bytes with the length of a JSON header, the header, the raw tensors.
// (The layout is that of the safetensors project's README.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pgexplainer {

struct Tensor {
  std::string dtype;                ///< F32 F64 I64 I32 U8 BOOL
  std::vector<std::int64_t> shape;  ///< () for a scalar
  std::vector<std::byte> data;      ///< row-major, little-endian
};

struct Safetensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Throws, naming the file and the tensor, unless the tensors fill the file exactly: no overlap, no
/// hole, nothing outside, every size that of its shape and type.
Safetensors read_safetensors(const std::filesystem::path& path);

/// Wider types first, then by name, so that each tensor is aligned to its type; the same content
/// gives the same bytes. Throws if the data of a tensor do not fit its shape and type.
void write_safetensors(const std::filesystem::path& path, const Safetensors& content);

}  // namespace pgexplainer
