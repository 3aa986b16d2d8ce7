#include "apps/cli/machine_limits.h"

#include <unistd.h>

#include <algorithm>

#include "apps/cli/stopwatch.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/strip.h"

namespace pgexplainer::cli {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
using Vector [[gnu::vector_size(kVectorBytes)]] = float;
constexpr std::size_t kLanes = kVectorBytes / sizeof(float);

constexpr int kPieces = 8;  // per core
constexpr std::int64_t kSteps = 20000;
constexpr int kChains = 12;  // independent sums: latency 4 or 5, two per cycle

/// kSteps dependent multiply-adds in each of kChains vectors.
[[gnu::noinline]] float multiply_adds(const Vector* start) {
  Vector sum[kChains];
  const Vector factor = start[0], term = start[1];
  unroll<kChains>([&](auto i) { sum[i] = start[i]; });
  for (std::int64_t step = 0; step < kSteps; ++step)
    unroll<kChains>([&](auto i) { sum[i] = sum[i] * factor + term; });
  Vector total{};
  unroll<kChains>([&](auto i) { total += sum[i]; });
  return total[0];
}
constexpr double kFlops = 2.0 * kSteps * kChains * static_cast<double>(kLanes);

[[gnu::noinline]] float read_all(std::span<const Vector> data) {
  constexpr std::size_t kSums = 8;
  Vector sum[kSums] = {};
  for (std::size_t i = 0; i + kSums <= data.size(); i += kSums)
    unroll<kSums>([&](auto k) { sum[k] += data[i + k]; });
  Vector total{};
  unroll<kSums>([&](auto k) { total += sum[k]; });
  return total[0];
}

std::int64_t cache_bytes(int name, std::int64_t usual) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : usual;
}

}  // namespace

void take_turns(std::span<TimedWork* const> works, double seconds_per_turn) {
  for (TimedWork* work : works) {
    const auto seconds_of = [&](std::int64_t calls) {
      const Stopwatch watch(work->one_thread);
      for (std::int64_t i = 0; i < calls; ++i) work->body();
      return watch.seconds();
    };
    if (work->calls == 0) {
      work->calls = 1;
      work->body();  // warms caches and reserves memory
      for (double s = seconds_of(1); s < 0.5 * seconds_per_turn; s = seconds_of(work->calls))
        work->calls = s <= 0 ? 2 * work->calls
                             : std::max(2 * work->calls,
                                        static_cast<std::int64_t>(static_cast<double>(work->calls) *
                                                                  seconds_per_turn / s));
    }
    work->seconds =
        std::min(work->seconds, seconds_of(work->calls) / static_cast<double>(work->calls));
  }
}

std::int64_t l2_bytes() { return cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20); }
std::int64_t l3_bytes() { return cache_bytes(_SC_LEVEL3_CACHE_SIZE, 32 << 20); }

struct MachineLimits::Buffer {
  std::vector<Vector> memory;              // larger than every cache
  std::vector<std::vector<Vector>> in_l2;  // one per core
  std::vector<Vector> start;
  std::vector<float> sink;  // keeps results alive
};

MachineLimits::MachineLimits(bool quick) : buffer_(std::make_unique<Buffer>()) {
  Buffer& b = *buffer_;
  const auto vectors = [](std::int64_t bytes) {
    return static_cast<std::size_t>(bytes) / sizeof(Vector);
  };
  const std::int64_t memory =
      quick ? std::int64_t{1} << 24 : std::max<std::int64_t>(4 * l3_bytes(), 1 << 28);
  b.memory.assign(vectors(memory), Vector{});
  b.in_l2.assign(at(cores()), std::vector<Vector>(vectors(l2_bytes() / 2), Vector{}));
  b.start.assign(kChains, Vector{} + 0.5F);
  b.sink.assign(64 * at(cores()), 0.0F);
  // Every core does the same work; more pieces than cores, so that all finish together.
  const auto on_all = [this](TimedWork& work, auto body) {
    work.one_thread = false;
    work.body = [this, body] {
      pool_.run(kPieces * cores(), [&](std::int64_t piece, int worker) {
        buffer_->sink[64 * at(worker)] += body(piece, worker);
      });
    };
  };
  flops_one_.body = [&b] { b.sink[0] += multiply_adds(b.start.data()); };
  on_all(flops_all_, [&b](std::int64_t, int) { return multiply_adds(b.start.data()); });
  l2_one_.body = [&b] { b.sink[0] += read_all(b.in_l2.front()); };
  on_all(l2_all_, [&b](std::int64_t, int worker) {
    float sum = 0;
    for (int i = 0; i < kPieces; ++i) sum += read_all(b.in_l2[at(worker)]);
    return sum;
  });
  memory_one_.body = [&b] { b.sink[0] += read_all(b.memory); };
  on_all(memory_all_, [this, &b](std::int64_t piece, int) {
    const std::size_t part = b.memory.size() / at(kPieces * cores());
    return read_all(std::span(b.memory).subspan(at(piece) * part, part));
  });
}

MachineLimits::~MachineLimits() = default;

std::vector<TimedWork*> MachineLimits::works() {
  return {&flops_one_, &flops_all_, &l2_one_, &l2_all_, &memory_one_, &memory_all_};
}

double MachineLimits::flops_one() const { return kFlops / flops_one_.seconds; }
double MachineLimits::flops_all() const { return kFlops * kPieces * cores() / flops_all_.seconds; }
double MachineLimits::l2_one() const {
  return static_cast<double>(buffer_->in_l2.front().size() * sizeof(Vector)) / l2_one_.seconds;
}
double MachineLimits::l2_all() const {
  return static_cast<double>(buffer_->in_l2.front().size() * sizeof(Vector)) * kPieces * kPieces *
         cores() / l2_all_.seconds;
}
double MachineLimits::memory_one() const {
  return static_cast<double>(buffer_->memory.size() * sizeof(Vector)) / memory_one_.seconds;
}
double MachineLimits::memory_all() const {
  return static_cast<double>(buffer_->memory.size() * sizeof(Vector)) / memory_all_.seconds;
}

}  // namespace pgexplainer::cli
