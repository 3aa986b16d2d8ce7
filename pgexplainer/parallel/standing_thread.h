// A thread that waits for work, call after call. Memory that it allocates in one call is its own
// in the next: what a thread leaves behind when it ends, another may use the rest of, and both
// would then write to the same lines of the cache.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace pgexplainer {

class StandingThread {
 public:
  StandingThread() : thread_([this] { serve(); }) {}
  ~StandingThread() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  StandingThread(const StandingThread&) = delete;
  StandingThread& operator=(const StandingThread&) = delete;

  /// Runs the work there, and waits for it. What it throws is thrown here. Not from several threads
  /// at once.
  void run(const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return work_ == nullptr; });
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return work_ != nullptr || ended_; });
      if (ended_) return;
      try {
        (*work_)();
      } catch (...) {
        thrown_ = std::current_exception();
      }
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  std::exception_ptr thrown_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace pgexplainer
