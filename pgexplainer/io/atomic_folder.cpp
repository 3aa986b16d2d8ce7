#include "pgexplainer/io/atomic_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/atomic_file.h"

namespace pgexplainer {

AtomicFolder::AtomicFolder(const std::filesystem::path& target)
    : target_(target.has_filename() ? target : target.parent_path()) {
  std::error_code ignored;
  if (std::filesystem::exists(target_, ignored)) {
    if (!std::filesystem::is_directory(target_, ignored))
      throw_bad_input("{}: cannot be written: it is a file, expected a folder", target_.string());
    if (!std::filesystem::is_empty(target_, ignored))
      throw_bad_input("{}: the folder is not empty; give a new one", target_.string());
  }
  temporary_ = target_;
  temporary_ += fmt::format(".{}.tmp", ::getpid());
  if (::mkdir(temporary_.c_str(), 0777) != 0) throw_write_error(target_, errno);
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, ignored);
}

void AtomicFolder::commit() {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_write_error(target_, errno);
  temporary_.clear();
}

}  // namespace pgexplainer
