#include "pgexplainer/io/partial_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/file_bytes.h"

namespace pgexplainer {
namespace {

std::filesystem::path with_suffix(std::filesystem::path path, const char* suffix) {
  path += suffix;
  return path;
}

struct Checkpoint {
  std::uint64_t bytes = 0;
  nlohmann::json notes;
};

Checkpoint read_checkpoint(const std::filesystem::path& path, const std::string& job) {
  const nlohmann::json json = nlohmann::json::parse(read_file_text(path), nullptr, false);
  if (!json.is_object() || !json.contains("job") || !json.contains("bytes") ||
      !json["bytes"].is_number_unsigned() || !json.contains("notes"))
    throw_bad_input("{}: the checkpoint is damaged; start anew without --resume", path.string());
  if (json["job"] != job)
    throw_bad_input(
        "{}: the checkpoint is of a run with other data, model, options or instances; repeat them "
        "exactly, or start anew without --resume",
        path.string());
  return {json["bytes"], json["notes"]};
}

}  // namespace

PartialFile::PartialFile(const std::filesystem::path& target, std::string job, bool resume)
    : target_(target), job_(std::move(job)) {
  { const AtomicFile can_be_written(target); }
  std::error_code ignored;
  if (std::filesystem::is_symlink(target_, ignored))  // renaming would replace the link itself
    target_ = std::filesystem::weakly_canonical(target_, ignored);
  partial_ = with_suffix(target_, ".partial");
  record_ = with_suffix(target_, ".partial.json");
  Checkpoint checkpoint;
  kept_ = resume && std::filesystem::exists(record_, ignored);
  if (kept_) checkpoint = read_checkpoint(record_, job_);
  file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) throw_write_error(target_, errno);
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(std::exchange(file_, -1));
    throw_bad_input("{}: another process is writing it", partial_.string());
  }
  if (!kept_) std::filesystem::remove(record_, ignored);  // of what is overwritten now
  struct stat status {};
  ::fstat(file_, &status);
  if (static_cast<std::uint64_t>(status.st_size) < checkpoint.bytes) {
    ::close(std::exchange(file_, -1));
    throw_bad_input("{}: is shorter than its checkpoint says; start anew without --resume",
                    partial_.string());
  }
  if (::ftruncate(file_, static_cast<off_t>(checkpoint.bytes)) != 0) fail(errno);
  bytes_ = checkpoint.bytes;
  notes_ = std::move(checkpoint.notes);
}

PartialFile::~PartialFile() {
  if (file_ < 0) return;
  if (!kept_) ::unlink(partial_.c_str());
  ::close(file_);
}

void PartialFile::fail(int code) const {
  if (!kept_) throw_write_error(target_, code);
  throw_failed("{}: writing failed: {}; {} keeps what was made before", partial_.string(),
               std::generic_category().message(code), record_.filename().string());
}

void PartialFile::write(std::string_view bytes) {
  buffer_ += bytes;
  bytes_ += bytes.size();
  if (buffer_.size() >= std::size_t{1} << 20) flush();
}

void PartialFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void PartialFile::checkpoint(const nlohmann::json& notes) {
  flush();
  if (::fdatasync(file_) != 0) fail(errno);
  AtomicFile record(record_);
  record.write(nlohmann::json{{"job", job_}, {"bytes", bytes_}, {"notes", notes}}.dump() + "\n");
  record.commit();
  kept_ = true;
}

const std::filesystem::path& PartialFile::finished_records() {
  flush();
  return partial_;
}

void PartialFile::commit() {
  flush();
  if (::fsync(file_) != 0) fail(errno);
  if (::rename(partial_.c_str(), target_.c_str()) != 0) fail(errno);
  ::close(std::exchange(file_, -1));
  std::error_code ignored;
  std::filesystem::remove(record_, ignored);
}

void PartialFile::discard() {
  std::error_code ignored;
  std::filesystem::remove(partial_, ignored);
  std::filesystem::remove(record_, ignored);
  ::close(std::exchange(file_, -1));
}

}  // namespace pgexplainer
