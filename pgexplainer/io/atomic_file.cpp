#include "pgexplainer/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "pgexplainer/core/error.h"

namespace pgexplainer {

void throw_write_error(const std::filesystem::path& path, int code) {
  const std::string reason = std::generic_category().message(code);
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      throw_bad_input("{}: the folder to write to does not exist; create it first", path.string());
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
    case ENAMETOOLONG:
      throw_bad_input("{}: cannot be written: {}", path.string(), reason);
    default:
      throw_failed("{}: writing failed: {}; nothing was kept", path.string(), reason);
  }
}

AtomicFile::AtomicFile(const std::filesystem::path& target) : target_(target) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(target_, ignored))  // renaming would replace the link itself
    target_ = std::filesystem::weakly_canonical(target_, ignored);
  const auto status = std::filesystem::status(target_, ignored);
  if (std::filesystem::is_directory(status))
    throw_bad_input("{}: cannot be written: it is a folder; give the name of a file",
                    target.string());
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw_bad_input("{}: cannot be written: it is not a regular file", target.string());

  static std::atomic<unsigned> counter{0};
  temporary_ = target_;
  temporary_ += fmt::format(".{}-{}.tmp", ::getpid(), counter++);
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) throw_write_error(target_, errno);
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_write_error(target_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (::fsync(file_) != 0 || ::close(std::exchange(file_, -1)) != 0)
    throw_write_error(target_, errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_write_error(target_, errno);
  temporary_.clear();
}

}  // namespace pgexplainer
