// Fetching a file over HTTP(S) with libcurl.
#pragma once

#include <filesystem>
#include <string>

#include "pgexplainer/core/progress.h"

namespace pgexplainer {

struct DownloadOptions {
  std::string sha256;        ///< of the whole file, 64 hexadecimal digits; empty = not compared
  int retries = 4;           ///< after a broken connection or a server error
  double retry_seconds = 1;  ///< pause before the first retry, doubled each time
  int connect_seconds = 30;  ///< longest wait for a connection
  int stalled_seconds = 60;  ///< longest time without a byte
};

/// Downloads to `path`. Bytes collect in PATH.part, which stays when the connection breaks or
/// progress asks to stop, so that the next call goes on there. Throws failed with the reason; a
/// file with another checksum is removed.
void download_file(const std::string& url, const std::filesystem::path& path,
                   const DownloadOptions& options = {}, const Progress& progress = {});

}  // namespace pgexplainer
