// Several processes ("ranks") that do one job together. Every rank makes the same calls in the same
// order; what they exchange are bytes, and what is computed from them is the same on every rank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pgexplainer {

class Communicator {
 public:
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] bool is_root() const { return rank() == 0; }

  /// What every rank gave, in the order of ranks; on every rank.
  [[nodiscard]] virtual std::vector<std::string> all_gather(std::string_view mine) = 0;
  /// Likewise on rank 0; nothing elsewhere.
  [[nodiscard]] virtual std::vector<std::string> gather(std::string_view mine) = 0;
};

/// One process, which has nobody to talk to.
class OneProcess final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::vector<std::string> all_gather(std::string_view mine) override {
    return {std::string(mine)};
  }
  [[nodiscard]] std::vector<std::string> gather(std::string_view mine) override {
    return {std::string(mine)};
  }
};

}  // namespace pgexplainer
