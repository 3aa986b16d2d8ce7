// How fast the inner kernels of the library run on data that fit in L2, on one core, and the
// roofline of each (Williams et al., CACM 2009): no kernel can take less time than its arithmetic
// at the multiply-add peak, nor than its bytes at the L2 bandwidth.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/machine_limits.h"
#include "pgexplainer/core/matrix.h"

namespace pgexplainer::cli {

/// A part of the work between which nothing overlaps: its arithmetic and its traffic beyond L1, as
/// the bytes it asks for and as what L2 has to deliver for them, which is whole lines of the cache.
struct Stage {
  double flops, bytes, delivered = bytes;
};

struct KernelBench {
  std::string name;
  Index width;
  std::vector<Stage> stages;
  TimedWork work;

  [[nodiscard]] double flops() const;
  [[nodiscard]] double bytes() const;
  /// The least seconds a call can take on this machine, by the bytes it asks for or by what is
  /// delivered, which is more where rows do not fill the lines that they touch.
  [[nodiscard]] double roof_seconds(const MachineLimits& limits,
                                    double Stage::*traffic = &Stage::bytes) const;
  /// Whether memory rather than arithmetic sets that limit.
  [[nodiscard]] bool bound_by_bytes(const MachineLimits& limits) const;
};

/// A dense layer, SpMM, SDDMM, the edge scorer and one training step of the explanation network.
std::vector<std::unique_ptr<KernelBench>> kernel_benches();

}  // namespace pgexplainer::cli
