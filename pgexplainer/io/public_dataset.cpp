#include "pgexplainer/io/public_dataset.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/atomic_folder.h"
#include "pgexplainer/io/file_bytes.h"
#include "pgexplainer/io/sha256.h"
#include "pgexplainer/io/tu_folder.h"
#include "pgexplainer/io/zip_reader.h"

namespace pgexplainer {
namespace {

constexpr const char* kMutagenicityUrl =
    "https://www.chrsmrrs.com/graphkerneldatasets/Mutagenicity.zip";

// The sum of a whole archive changes whenever somebody packs it again, so the contents count:
// SHA-256 of each file without spaces, tabs and carriage returns and with one line end at its end,
// as `tr -d ' \t\r' < FILE | sha256sum` prints it.
struct KnownFile {
  const char* name;
  const char* sha256;
};
constexpr std::array<KnownFile, 5> kMutagenicityFiles{{
    {"Mutagenicity_A.txt", "f3b4f55363333ee35540aae1e915a160fe9004a3c733ff7deb58a14d41876f53"},
    {"Mutagenicity_edge_labels.txt",
     "bf8e783386ac22e6033bbce56d765c0a4336649bd590a6f1e467b27b549f2114"},
    {"Mutagenicity_graph_indicator.txt",
     "88b2d83ff10fad75b3280654061e965976f74e75620058c371ed23567236b4bc"},
    {"Mutagenicity_graph_labels.txt",
     "b604c7dcbfdf89193901e32abdcbf9b5b92137414ce22231f00ed65d48ec48f9"},
    {"Mutagenicity_node_labels.txt",
     "b429ec418c831d02dc3088b2fe08d11214627850d2bbdacfa9797c0510e70ae7"},
}};

std::string content_sha256(const std::filesystem::path& path) {
  std::string text = read_file_text(path);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  text.resize(text.find_last_not_of('\n') + 1);
  text += '\n';
  return sha256(text);
}

// Empty if the folder holds the known contents, else what is wrong.
std::string difference(const std::filesystem::path& folder) {
  for (const KnownFile& file : kMutagenicityFiles) {
    const auto path = folder / file.name;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      return fmt::format("{} is missing", file.name);
    if (content_sha256(path) != file.sha256)
      return fmt::format("{} has other contents than the published dataset", file.name);
  }
  return {};
}

}  // namespace

PublicDatasetResult fetch_public_dataset(std::string_view name, const std::filesystem::path& folder,
                                         const std::string& url, const DownloadOptions& options,
                                         const Progress& progress) {
  if (name != "mutagenicity")
    throw_bad_input("there is no public dataset '{}'; mutagenicity is the one there is", name);
  PublicDatasetResult result{url.empty() ? kMutagenicityUrl : url, false};
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored) && difference(folder).empty()) {
    result.was_there = true;
    return result;
  }

  AtomicFolder output(folder);  // before the download: a place that cannot be written is an error
  std::filesystem::path archive = folder.has_filename() ? folder : folder.parent_path();
  archive += ".zip";
  download_file(result.url, archive, options, progress);
  try {
    unpack_zip(archive, output.temporary());
    const std::string wrong = options.sha256.empty() ? difference(output.temporary()) : "";
    if (!wrong.empty())
      throw_failed("{}: {}; the download was removed, try again or give its --sha256", result.url,
                   wrong);
    (void)read_tu_folder(output.temporary());
  } catch (const Error& error) {
    std::filesystem::remove(archive, ignored);
    // The user knows the address, not the temporary names.
    if (error.kind() == Error::Kind::failed) throw;
    throw_failed("{}: the archive is not a TU dataset: {}", result.url, error.what());
  }
  std::filesystem::remove(archive, ignored);
  output.commit();
  return result;
}

}  // namespace pgexplainer
