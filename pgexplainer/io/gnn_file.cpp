#include "pgexplainer/io/gnn_file.h"

#include <dlfcn.h>
#include <link.h>

#include <string_view>
#include <system_error>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/file_bytes.h"
#include "pgexplainer/io/model_file.h"
#include "pgexplainer/io/zip_reader.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;

/// The folder of the program or shared library that this function is a part of.
fs::path own_folder() {
  Dl_info info;
  void* map = nullptr;
  const bool known =
      dladdr1(reinterpret_cast<void*>(&own_folder), &info, &map, RTLD_DL_LINKMAP) != 0;
  const char* name = known ? static_cast<const link_map*>(map)->l_name : "";
  std::error_code error;
  return fs::canonical(*name == '\0' ? "/proc/self/exe" : name, error).parent_path();
}

const TorchPlugin& load_torch_plugin(const fs::path& wanted_by) {
  const fs::path beside = own_folder();
  const std::vector<fs::path> folders{
      beside, (beside / ".." / PGEXPLAINER_LIBDIR).lexically_normal(), PGEXPLAINER_FULL_LIBDIR};
  for (const fs::path& folder : folders) {
    const fs::path file = folder / "libpgexplainer_torch.so";
    std::error_code error;
    if (!fs::exists(file, error)) continue;
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw_failed("{}: cannot be loaded: {}", file.string(), dlerror());
    const void* plugin = dlsym(library, "pgexplainer_torch_plugin");
    if (plugin == nullptr) throw_failed("{}: is not the plug-in: {}", file.string(), dlerror());
    return *static_cast<const TorchPlugin*>(plugin);
  }
  throw_bad_input(
      "{}: is a TorchScript module, which this program cannot run: there is no "
      "libpgexplainer_torch.so in {}, {} or {}; install libtorch-dev and build with "
      "-DPGEXPLAINER_WITH_TORCH=ON",
      wanted_by.string(), folders[0].string(), folders[1].string(), folders[2].string());
}

/// Loaded once, and kept until the process ends.
const TorchPlugin& torch_plugin(const fs::path& wanted_by) {
  static const TorchPlugin& plugin = load_torch_plugin(wanted_by);
  return plugin;
}

/// A text in braces after its length, whose bytes may look like the marks of other formats.
bool is_safetensors(std::string_view bytes) { return bytes.size() > 8 && bytes[8] == '{'; }

std::string_view as_text(const Array<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool is_torch_script(const fs::path& path) {
  const Array<std::byte> bytes = map_file_bytes(path);
  const std::string_view text = as_text(bytes);
  if (is_safetensors(text)) return false;
  bool of_torch = text.starts_with('\x80');  // pickle, as torch.save wrote it once
  if (text.starts_with("PK\x03\x04")) {
    const ZipReader archive(path, "TorchScript");
    for (std::uint64_t i = 0; i < archive.num_entries(); ++i) {
      const std::string name = archive.name(i);
      if (name.find("/code/") != std::string::npos) return true;
      of_torch = of_torch || name.ends_with("/data.pkl");
    }
  }
  if (of_torch)
    throw_bad_input(
        "{}: was written by torch.save, which leaves out the code of the module; save it with "
        "torch.jit.script(module).save(\"{}\")",
        path.string(), path.filename().string());
  return false;
}

TorchScriptInfo read_torch_script_info(const fs::path& path) {
  return torch_plugin(path).describe(path);
}

std::shared_ptr<const Gnn> read_gnn(const fs::path& path, const Dataset& dataset) {
  if (is_torch_script(path)) return torch_plugin(path).read(path, dataset);
  if (path.extension() != ".safetensors" && !is_safetensors(as_text(map_file_bytes(path))))
    throw_bad_input(
        "{}: is not a model: expected NAME.safetensors, as `pgexplainer train` writes it, or a "
        "module saved as TorchScript (NAME.pt)",
        path.string());
  return make_gnn(read_model(path).model);
}

}  // namespace pgexplainer
