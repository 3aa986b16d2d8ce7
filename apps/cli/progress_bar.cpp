#include "apps/cli/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "apps/cli/cli.h"

namespace pgexplainer::cli {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

void on_interrupt(int) { interrupt_seen = 1; }

/// Three digits and a magnitude: 999, 1.23k, 45.6M.
std::string short_number(double value) {
  const char* magnitude = " kMGTP";
  while (value >= 999.5 && magnitude[1] != '\0') {
    value /= 1000;
    ++magnitude;
  }
  return *magnitude == ' ' ? fmt::format("{:.3g}", value)
                           : fmt::format("{:.3g}{}", value, *magnitude);
}

std::string clock_time(double seconds) {
  const std::int64_t whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::size_t terminal_width(int terminal) {
  winsize size{};
  return ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79U;
}

void write_text(int terminal, std::string_view text) {
  // A terminal that went away must not stop the work.
  [[maybe_unused]] const auto written = write(terminal, text.data(), text.size());
}

}  // namespace

std::string progress_line(std::string_view title, std::int64_t first, std::int64_t done,
                          std::int64_t total, double seconds, std::string_view message,
                          std::size_t width) {
  const double rate = seconds > 0 ? static_cast<double>(done - first) / seconds : 0;
  std::string line(title);
  if (total > 0) {
    const double share =
        std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(20 * share);
    line += fmt::format(" [{}{}] {:.0f}%", std::string(filled, '#'), std::string(20 - filled, '.'),
                        100 * share);
  } else {
    line += fmt::format(" {}", short_number(static_cast<double>(done)));
  }
  if (rate > 0) line += fmt::format(" {}/s", short_number(rate));
  if (rate > 0 && total > done)
    line += fmt::format(", {} left", clock_time(static_cast<double>(total - done) / rate));
  if (!message.empty()) line += fmt::format("  {}", message);
  if (line.size() > width) line.resize(width);
  return line;
}

bool interrupted() { return interrupt_seen != 0; }

ProgressBar::ProgressBar(std::string title, std::chrono::duration<double> delay, int terminal)
    : title_(std::move(title)),
      delay_(delay),
      terminal_(terminal),
      visible_(isatty(terminal) == 1 && communicator().is_root()),
      start_(Clock::now()),
      last_(start_) {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

ProgressBar::~ProgressBar() {
  if (drawn_) write_text(terminal_, "\r\x1b[K");
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

Progress ProgressBar::callback(std::int64_t before) {
  return [this, before](std::int64_t done, std::int64_t total, std::string_view message) {
    done += before;
    if (total > 0) total += before;
    if (first_ < 0) first_ = done;
    if (visible_) draw(done, total, message);
    return !interrupted();
  };
}

void ProgressBar::draw(std::int64_t done, std::int64_t total, std::string_view message) {
  const auto now = Clock::now();
  if (now - start_ < delay_ || (drawn_ && now - last_ < std::chrono::milliseconds(100))) return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  write_text(terminal_,
             fmt::format("\r{}\x1b[K", progress_line(title_, first_, done, total, seconds, message,
                                                     terminal_width(terminal_))));
  drawn_ = true;
  last_ = now;
}

}  // namespace pgexplainer::cli
