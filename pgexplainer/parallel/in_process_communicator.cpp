#include "pgexplainer/parallel/in_process_communicator.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {
namespace {

/// Where the ranks meet. An exchange is complete when every rank has come.
class Meeting {
 public:
  explicit Meeting(int ranks) : given_(at(ranks)) {}

  [[nodiscard]] int size() const { return static_cast<int>(given_.size()); }

  std::vector<std::string> exchange(int rank, std::string_view mine) {
    std::unique_lock lock(mutex_);
    const std::int64_t exchange = complete_;
    given_[at(rank)] = mine;
    if (++arrived_ == given_.size()) {
      // Nobody can complete the next exchange before all have taken this one with them.
      result_ = given_;
      arrived_ = 0;
      ++complete_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return complete_ != exchange || somebody_left_; });
    if (complete_ == exchange) throw_failed("another rank has ended; rank {} waits in vain", rank);
    return result_;
  }

  /// Of a rank that ends, with what it threw.
  void leave(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!first_error_) first_error_ = std::move(error);
    somebody_left_ = true;
    changed_.notify_all();
  }
  void rethrow() const {
    if (first_error_) std::rethrow_exception(first_error_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> given_, result_;
  std::size_t arrived_ = 0;
  std::int64_t complete_ = 0;
  bool somebody_left_ = false;
  std::exception_ptr first_error_;
};

class InProcess final : public Communicator {
 public:
  InProcess(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return meeting_.size(); }
  [[nodiscard]] std::vector<std::string> all_gather(std::string_view mine) override {
    return meeting_.exchange(rank_, mine);
  }
  [[nodiscard]] std::vector<std::string> gather(std::string_view mine) override {
    std::vector<std::string> all = meeting_.exchange(rank_, mine);
    return is_root() ? std::move(all) : std::vector<std::string>();
  }

 private:
  Meeting& meeting_;
  int rank_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& body) {
  Meeting meeting(ranks);
  std::vector<std::thread> threads;
  threads.reserve(at(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&meeting, &body, rank] {
      std::exception_ptr error;
      try {
        InProcess communicator(meeting, rank);
        body(communicator);
      } catch (...) {
        error = std::current_exception();
      }
      meeting.leave(std::move(error));
    });
  for (std::thread& thread : threads) thread.join();
  meeting.rethrow();
}

}  // namespace pgexplainer
