// Public datasets by name: download, verification, and unpacking into a folder that read_dataset
// reads.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "pgexplainer/core/progress.h"
#include "pgexplainer/io/download.h"

namespace pgexplainer {

struct PublicDatasetResult {
  std::string url;
  bool was_there = false;  ///< the folder already held the verified files; nothing was downloaded
};

/// "mutagenicity" is the one there is. An empty url is the public address. The files of the archive
/// must have the contents this version knows; a checksum in options.sha256 replaces that check, for
/// archives you vouch for. On failure the folder is not created; a half-finished archive stays as
/// FOLDER.zip.part and is continued by the next call.
PublicDatasetResult fetch_public_dataset(std::string_view name, const std::filesystem::path& folder,
                                         const std::string& url = {},
                                         const DownloadOptions& options = {},
                                         const Progress& progress = {});

}  // namespace pgexplainer
