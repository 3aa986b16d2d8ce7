#include "pgexplainer/io/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

[[noreturn]] void throw_read_error(const std::filesystem::path& path, int code) {
  if (code == ENOENT || code == ENOTDIR)
    throw_bad_input("{}: no such file or folder", path.string());
  throw_bad_input("{}: cannot be read: {}", path.string(), std::generic_category().message(code));
}

struct OpenFile {
  explicit OpenFile(const std::filesystem::path& path)
      // O_NONBLOCK: a named pipe without a writer must not hang us before fstat refuses it.
      : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor < 0) throw_read_error(path, errno);
  }
  ~OpenFile() { ::close(descriptor); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor;
};

std::uint64_t size_of(const OpenFile& file, const std::filesystem::path& path, bool may_be_empty) {
  struct stat status {};
  if (::fstat(file.descriptor, &status) != 0) throw_read_error(path, errno);
  if (S_ISDIR(status.st_mode)) throw_bad_input("{}: is a folder, expected a file", path.string());
  if (!S_ISREG(status.st_mode)) throw_bad_input("{}: is not a regular file", path.string());
  if (status.st_size == 0 && !may_be_empty) throw_bad_input("{}: the file is empty", path.string());
  return static_cast<std::uint64_t>(status.st_size);
}

template <class Container>
Container read_whole(const std::filesystem::path& path, bool may_be_empty) {
  const OpenFile file(path);
  Container result(size_of(file, path, may_be_empty), typename Container::value_type{});
  std::size_t done = 0;
  while (done < result.size()) {
    const ssize_t count = ::read(file.descriptor, result.data() + done, result.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_read_error(path, errno);
    if (count == 0) throw_bad_input("{}: the file shrank while it was read", path.string());
    done += static_cast<std::size_t>(count);
  }
  return result;
}

}  // namespace

std::uint64_t check_readable_file(const std::filesystem::path& path) {
  return size_of(OpenFile(path), path, false);
}

Array<std::byte> map_file_bytes(const std::filesystem::path& path) {
  const OpenFile file(path);
  const std::uint64_t size = size_of(file, path, false);
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor, 0);
  if (begin == MAP_FAILED) throw_read_error(path, errno);
  const std::shared_ptr<const void> mapping(
      begin, [size](const void* address) { ::munmap(const_cast<void*>(address), size); });
  return {{static_cast<const std::byte*>(begin), size}, mapping};
}

std::vector<std::byte> read_file_bytes(const std::filesystem::path& path) {
  return read_whole<std::vector<std::byte>>(path, false);
}

std::string read_file_text(const std::filesystem::path& path) {
  return read_whole<std::string>(path, true);
}

}  // namespace pgexplainer
