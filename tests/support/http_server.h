// A tiny HTTP server on 127.0.0.1 for tests of downloads: one thread, one connection at a time, and
// connections that break on purpose.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace pgexplainer {

class HttpServer {
 public:
  struct Response {
    int status = 200;
    std::string headers;  ///< further lines, each with "\r\n"
    std::string body;
    std::size_t cut_after = std::string::npos;  ///< close after so many bytes of the body
  };
  using Handler = std::function<Response(const std::string& request)>;

  explicit HttpServer(Handler handler) : handler_(std::move(handler)) {
    ::setenv("no_proxy", "127.0.0.1", 1);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, generic, size) != 0 || ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, generic, &size) != 0)
      throw std::runtime_error("cannot listen on 127.0.0.1");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/data.zip";
  }
  [[nodiscard]] std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    while (true) {
      const int connection = ::accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      std::string request;
      char buffer[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t count = ::recv(connection, buffer, sizeof(buffer), 0);
        if (count <= 0) break;
        request.append(buffer, static_cast<std::size_t>(count));
      }
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      const Response response = handler_(request);
      send_all(connection, "HTTP/1.1 " + std::to_string(response.status) +
                               " X\r\nConnection: close\r\nContent-Length: " +
                               std::to_string(response.body.size()) + "\r\n" + response.headers +
                               "\r\n" + response.body.substr(0, response.cut_after));
      ::close(connection);
    }
  }
  static void send_all(int connection, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t count =
          ::send(connection, text.data() + done, text.size() - done, MSG_NOSIGNAL);
      if (count <= 0) return;
      done += static_cast<std::size_t>(count);
    }
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

/// Where a "Range: bytes=N-" of a request starts; 0 without one.
inline std::size_t range_start(const std::string& request) {
  const std::size_t found = request.find("Range: bytes=");
  return found == std::string::npos ? 0 : std::stoul(request.substr(found + 13));
}

/// Serves `body` with ranges.
inline HttpServer::Response serve_range(const std::string& request, const std::string& body) {
  const std::size_t start = range_start(request);
  if (start == 0) return {200, "", body};
  if (start >= body.size()) return {416, "", ""};
  return {206,
          "Content-Range: bytes " + std::to_string(start) + "-" + std::to_string(body.size() - 1) +
              "/" + std::to_string(body.size()) + "\r\n",
          body.substr(start)};
}

}  // namespace pgexplainer
