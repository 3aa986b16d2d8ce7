#include "pgexplainer/io/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/sha256.h"

namespace pgexplainer {
namespace {

constexpr long kPartialContent = 206;
constexpr long kRangeNotSatisfiable = 416;

// One request that appends to the .part file.
class Transfer {
 public:
  Transfer(const std::string& url, const std::filesystem::path& part,
           const DownloadOptions& options, const Progress& progress)
      : url_(url), part_(part), progress_(progress), curl_(curl_easy_init(), curl_easy_cleanup) {
    if (!curl_) throw_failed("libcurl cannot start");
    file_ = ::open(part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) throw_write_error(part, errno);
    offset_ = ::lseek(file_, 0, SEEK_END);
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 10L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_USERAGENT, "pgexplainer");
    set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(options.connect_seconds));
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.stalled_seconds));
    set(CURLOPT_ERRORBUFFER, error_.data());
    set(CURLOPT_WRITEFUNCTION, &Transfer::on_data);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
    set(CURLOPT_XFERINFODATA, this);
    if (offset_ > 0) set(CURLOPT_RANGE, fmt::format("{}-", offset_).c_str());
  }
  ~Transfer() { ::close(file_); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  enum class Outcome { done, try_again };

  // Throws what trying again cannot mend; `reason` says why otherwise.
  Outcome run(std::string& reason) {
    const CURLcode code = curl_easy_perform(curl_.get());
    if (write_error_ != 0) throw_write_error(part_, write_error_);
    if (stopped_) throw_failed("{}: the download was stopped; run it again to go on", url_);
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
      throw_bad_input("{}: is not an http or https address", url_);
    if (code != CURLE_OK) {
      reason = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
      return Outcome::try_again;
    }
    const long status = status_code();
    if (status == kRangeNotSatisfiable && offset_ > 0) {  // what we have is not part of that file
      start_over();
      reason = "the server has no such range";
      return Outcome::try_again;
    }
    if (status >= 200 && status < 300) return Outcome::done;
    reason = fmt::format("the server answered with HTTP status {}", status);
    if (status >= 500 || status == 408 || status == 429) return Outcome::try_again;
    throw_failed("{}: {}; check the address", url_, reason);
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    if (curl_easy_setopt(curl_.get(), option, value) != CURLE_OK)
      throw_failed("libcurl refuses option {}", static_cast<int>(option));
  }
  long status_code() const {
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
  }
  bool start_over() {
    offset_ = 0;
    if (::ftruncate(file_, 0) != 0 || ::lseek(file_, 0, SEEK_SET) != 0) write_error_ = errno;
    return write_error_ == 0;
  }

  static std::size_t on_data(char* data, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const long status = transfer.status_code();
    if (status >= 300) return size;  // the page of an error or a redirection
    // A server may ignore the range and send everything.
    if (transfer.offset_ > 0 && status != kPartialContent && !transfer.start_over()) return 0;
    std::size_t done = 0;
    while (done < size) {
      const ssize_t count = ::write(transfer.file_, data + done, size - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        transfer.write_error_ = errno;
        return 0;
      }
      done += static_cast<std::size_t>(count);
    }
    return size;
  }

  static int on_progress(void* self, curl_off_t total, curl_off_t now, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(self);
    if (total > 0 && !report_progress(transfer.progress_, transfer.offset_ + now,
                                      transfer.offset_ + total, "bytes"))
      transfer.stopped_ = true;
    return transfer.stopped_ ? 1 : 0;
  }

  const std::string& url_;
  const std::filesystem::path& part_;
  const Progress& progress_;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  int file_ = -1;
  std::int64_t offset_ = 0;  // bytes we had before this request
  int write_error_ = 0;
  bool stopped_ = false;
};

void fetch(const std::string& url, const std::filesystem::path& part,
           const DownloadOptions& options, const Progress& progress) {
  double pause = options.retry_seconds;
  for (int attempt = 0;; ++attempt) {
    std::string reason;
    if (Transfer(url, part, options, progress).run(reason) == Transfer::Outcome::done) return;
    if (attempt >= options.retries)
      throw_failed("{}: the download failed after {} attempts: {}", url, attempt + 1, reason);
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    pause *= 2;
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

void download_file(const std::string& url, const std::filesystem::path& path,
                   const DownloadOptions& options, const Progress& progress) {
  static const CURLcode kStarted = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kStarted != CURLE_OK) throw_failed("libcurl cannot start: {}", curl_easy_strerror(kStarted));
  const std::string expected = lower(options.sha256);
  if (!expected.empty() && (expected.size() != 64 ||
                            expected.find_first_not_of("0123456789abcdef") != std::string::npos))
    throw_bad_input("'{}' is not a SHA-256, expected 64 hexadecimal digits", options.sha256);

  std::filesystem::path part = path;
  part += ".part";
  try {
    fetch(url, part, options, progress);
  } catch (...) {
    std::error_code ignored;
    if (std::filesystem::file_size(part, ignored) == 0) std::filesystem::remove(part, ignored);
    throw;
  }
  if (!expected.empty()) {
    const std::string found = sha256_of_file(part);
    if (found != expected) {
      std::filesystem::remove(part);
      throw_failed("{}: the SHA-256 is {}, expected {}; the file was removed, try again", url,
                   found, expected);
    }
  }
  std::error_code error;
  std::filesystem::rename(part, path, error);
  if (error) throw_write_error(path, error.value());
}

}  // namespace pgexplainer
