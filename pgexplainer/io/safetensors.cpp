#include "pgexplainer/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/file_bytes.h"
#include "pgexplainer/io/npz.h"

namespace pgexplainer {
namespace {

using Json = nlohmann::json;
static_assert(std::endian::native == std::endian::little);

// 0 = unknown type.
std::uint64_t item_size(const std::string& dtype) {
  static const std::map<std::string, std::uint64_t> kSizes{{"F64", 8}, {"I64", 8}, {"F32", 4},
                                                           {"I32", 4}, {"U8", 1},  {"BOOL", 1}};
  const auto found = kSizes.find(dtype);
  return found == kSizes.end() ? 0 : found->second;
}

std::uint64_t byte_size(const std::string& dtype, const std::vector<std::int64_t>& shape,
                        const std::string& where) {
  std::uint64_t bytes = item_size(dtype);
  if (bytes == 0)
    throw_bad_input("{} has the type '{}', expected F32, F64, I64, I32, U8 or BOOL", where, dtype);
  for (const std::int64_t extent : shape) {
    if (extent < 0)
      throw_bad_input("{} has a negative length in its shape {}", where, shape_text(shape));
    const auto factor = static_cast<std::uint64_t>(extent);
    if (factor > 0 && bytes > std::numeric_limits<std::int64_t>::max() / factor)
      throw_bad_input("{} has an impossibly large shape {}", where, shape_text(shape));
    bytes *= factor;
  }
  return bytes;
}

// nlohmann keeps the last of two equal keys; a model file with two is broken.
Json parse_without_duplicates(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> keys;
  std::string duplicate;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      duplicate = parsed.get<std::string>();
    return true;
  };
  Json json = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object())
    throw_bad_input("{}: the safetensors header is not a JSON object; the file is damaged", file);
  if (!duplicate.empty())
    throw_bad_input("{}: the safetensors header names '{}' twice", file, duplicate);
  return json;
}

// A whole number in the JSON, without the silent conversions of nlohmann.
std::int64_t whole_number(const Json& value, const std::string& where, const char* field) {
  const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{1}
                                                                                   << 62;
  if (!value.is_number_integer() || huge)
    throw_bad_input("{} has {} in {}, expected a whole number", where, value.dump(), field);
  return value.get<std::int64_t>();
}

std::vector<std::int64_t> whole_numbers(const Json& entry, const char* field,
                                        const std::string& where) {
  const auto found = entry.find(field);
  if (found == entry.end() || !found->is_array())
    throw_bad_input("{} has no list {} in the header", where, field);
  std::vector<std::int64_t> result;
  for (const Json& value : *found) result.push_back(whole_number(value, where, field));
  return result;
}

std::map<std::string, std::string> parse_metadata(const Json& json, const std::string& file) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object()) throw_bad_input("{}: __metadata__ is not a JSON object", file);
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string())
      throw_bad_input("{}: __metadata__ entry '{}' is not a string", file, key);
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

std::string tensor_name(const std::string& file, const std::string& name) {
  return fmt::format("{}: tensor {}", file, name);
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  const std::string file = path.string();
  const std::vector<std::byte> bytes = read_file_bytes(path);
  std::uint64_t header_length = 0;
  if (bytes.size() < 8) throw_bad_input("{}: too short to be a safetensors file", file);
  std::memcpy(&header_length, bytes.data(), 8);
  if (header_length > bytes.size() - 8)
    throw_bad_input(
        "{}: the header should have {} bytes but the file has {}; it is truncated or not a "
        "safetensors file",
        file, header_length, bytes.size());
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + 8, header_length);
  const auto body = std::span(bytes).subspan(8 + header_length);
  const Json json = parse_without_duplicates(header, file);

  Safetensors content;
  struct Extent {
    std::uint64_t begin, end;
    std::string name;
  };
  std::vector<Extent> extents;
  for (const auto& [name, entry] : json.items()) {
    if (name == "__metadata__") {
      content.metadata = parse_metadata(entry, file);
      continue;
    }
    const std::string where = tensor_name(file, name);
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string())
      throw_bad_input("{} has no dtype in the header", where);
    Tensor tensor{entry["dtype"].get<std::string>(), whole_numbers(entry, "shape", where), {}};
    const std::uint64_t expected = byte_size(tensor.dtype, tensor.shape, where);
    const auto offsets = whole_numbers(entry, "data_offsets", where);
    if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0])
      throw_bad_input("{} has data_offsets {}, expected a begin and an end not before it", where,
                      entry["data_offsets"].dump());
    const auto begin = static_cast<std::uint64_t>(offsets[0]);
    const auto end = static_cast<std::uint64_t>(offsets[1]);
    if (end > body.size())
      throw_bad_input("{} ends at byte {} but the file has only {} bytes of data; it is truncated",
                      where, end, body.size());
    if (end - begin != expected)
      throw_bad_input("{} has shape {} of type {}, which needs {} bytes, but data_offsets give {}",
                      where, shape_text(tensor.shape), tensor.dtype, expected, end - begin);
    const auto data = body.subspan(begin, expected);
    tensor.data.assign(data.begin(), data.end());
    content.tensors.emplace(name, std::move(tensor));
    extents.push_back({begin, end, name});
  }

  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t position = 0;
  for (const Extent& extent : extents) {
    if (extent.begin < position)
      throw_bad_input("{} overlaps the tensor before it", tensor_name(file, extent.name));
    if (extent.begin > position)
      throw_bad_input("{} starts at byte {}, leaving a hole after byte {}",
                      tensor_name(file, extent.name), extent.begin, position);
    position = extent.end;
  }
  if (position != body.size())
    throw_bad_input("{}: {} bytes after the last tensor belong to no tensor", file,
                    body.size() - position);
  return content;
}

void write_safetensors(const std::filesystem::path& path, const Safetensors& content) {
  // Wider types first: every tensor then starts at a multiple of its item size, without holes.
  std::vector<std::pair<const std::string*, const Tensor*>> order;
  for (const auto& [name, tensor] : content.tensors) order.emplace_back(&name, &tensor);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return item_size(a.second->dtype) > item_size(b.second->dtype);
  });

  Json json = Json::object();  // ordered by key
  if (!content.metadata.empty()) json["__metadata__"] = content.metadata;
  std::uint64_t position = 0;
  for (const auto& [name, tensor] : order) {
    const std::string where = tensor_name(path.string(), *name);
    if (byte_size(tensor->dtype, tensor->shape, where) != tensor->data.size())
      throw_bad_input("{} has shape {} of type {} but {} bytes", where, shape_text(tensor->shape),
                      tensor->dtype, tensor->data.size());
    const std::uint64_t end = position + tensor->data.size();
    json[*name] = {
        {"dtype", tensor->dtype}, {"shape", tensor->shape}, {"data_offsets", {position, end}}};
    position = end;
  }
  std::string header = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  header.append((8 - header.size() % 8) % 8, ' ');

  AtomicFile file(path);
  const auto length = static_cast<std::uint64_t>(header.size());
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const auto& [name, tensor] : order) file.write(tensor->data);
  file.commit();
}

}  // namespace pgexplainer
