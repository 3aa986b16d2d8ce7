// Everything that has numbers from the reference implementation (PyTorch Geometric) against them,
// in double and in float.
//
// Walks every .npz below PGEXPLAINER_GOLDEN (a folder or one file; default tests/golden) and
// decides from the file's name what it holds. A file nobody knows is a failure.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/golden/golden_check.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;

GoldenErrors check(const std::string& name, const NpzArrays& file) {
  // One line per kind of file; what is left must be a layer.
  if (name.starts_with("gnnexplainer_step")) return check_gnn_explainer_step(name, file);
  if (name.starts_with("metrics")) return check_metrics(name, file);
  if (name.starts_with("pgexplainer_step_")) return check_pg_explainer_step(name, file);
  return check_layer(name, file);
}

/// A trained network with its logits needs the dataset it was trained on.
bool is_network(const NpzArrays& file) {
  return file.contains("conv1.lin.weight") && file.contains("lin.weight") &&
         file.contains("logits");
}

TEST(Golden, EveryFileAgreesWithTheReference) {
  const char* given = std::getenv("PGEXPLAINER_GOLDEN");
  const fs::path root = given ? given : "tests/golden";
  std::vector<fs::path> files;
  if (fs::is_regular_file(root)) {
    files.push_back(root);
  } else {
    ASSERT_TRUE(fs::is_directory(root)) << root << " is neither a folder nor a file";
    for (const auto& entry : fs::recursive_directory_iterator(root))
      if (entry.path().extension() == ".npz") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  int compared = 0;
  for (const fs::path& path : files) {
    const std::string stem = path.stem().string();
    const std::string name = stem.substr(0, stem.find("__"));
    try {
      const NpzArrays file = read_npz(path);
      if (is_network(file)) {
        std::printf("skip %-55s a network: compared on its dataset by io_tests\n", stem.c_str());
        continue;
      }
      const auto [in_double, in_float] = check(name, file);
      ++compared;
      const bool good = in_double.value <= kDoubleTolerance && in_float.value <= kFloatTolerance;
      std::printf("%-4s %-55s double %.1e (%s)  float %.1e (%s)\n", good ? "ok" : "BAD",
                  stem.c_str(), in_double.value, in_double.array.c_str(), in_float.value,
                  in_float.array.c_str());
      EXPECT_TRUE(good) << path;
    } catch (const std::exception& error) {
      std::printf("BAD  %-55s %s\n", stem.c_str(), error.what());
      ADD_FAILURE() << path << ": " << error.what();
    }
  }
  EXPECT_GT(compared, 0) << "nothing to compare below " << root;
}

}  // namespace
}  // namespace pgexplainer
