// Valid files with random bytes changed, removed or doubled: a reader may accept them or throw
// Error, nothing else. Most useful under the address sanitizer.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/graph/computation_graph.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/dataset_npz.h"
#include "pgexplainer/io/explanation_file.h"
#include "pgexplainer/io/npz.h"
#include "pgexplainer/io/safetensors.h"
#include "tests/support/random_explanation.h"
#include "tests/support/raw_npz.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

void damage(std::string& text, RandomStream& random) {
  for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = std::min<std::size_t>(1 + random.below(8), text.size() - at);
    switch (random.below(4)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
        break;
      case 2:
        text.erase(at, length);
        break;
      default:
        text.insert(at, text.substr(at, length));
    }
  }
}

// Returns how many of the damaged files were refused.
int read_damaged(const std::filesystem::path& path, const std::function<void()>& read) {
  const std::string original = read_file_text(path);
  RandomStream random(7, RandomPurpose::test);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string text = original;
    damage(text, random);
    write_text(path, text);
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::bad_input) << error.what();
      ++refused;
    }
  }
  return refused;
}

Dataset triangle() {
  Dataset dataset;
  dataset.graph = Graph(3, {0, 1, 2}, {1, 2, 0});
  dataset.graph_ptr = {0, 3};
  dataset.edge_ptr = {0, 3};
  dataset.x = Matrix<float>::Constant(3, 2, 0.25F);
  dataset.y = {0, 1, 2};
  dataset.edge_gt = {0, 1, 0};
  split_80_10_10(dataset, 0);
  return dataset;
}

TEST(DamagedFile, NpzIsReadOrRefused) {
  const TemporaryFolder folder;
  write_dataset(folder / "a.npz", triangle());
  EXPECT_GT(read_damaged(folder / "a.npz", [&] { (void)read_dataset(folder / "a.npz"); }), 300);
}

TEST(DamagedFile, MappedGraphIsReadOrRefused) {
  const TemporaryFolder folder;
  write_dataset_npz(folder / "a.npz", triangle(), 0);
  EXPECT_GT(read_damaged(folder / "a.npz", [&] { (void)read_dataset(folder / "a.npz"); }), 300);
}

// A hostile file has the right checksums: every number of every array of the graph is replaced.
TEST(DamagedFile, HostileMappedGraphIsSafeOrRefused) {
  const TemporaryFolder folder;
  write_dataset_npz(folder / "a.npz", triangle(), 0);
  const NpzArrays original = read_npz(folder / "a.npz");
  int refused = 0;
  int tried = 0;
  for (const std::string& name : original.names()) {
    if (!name.starts_with("graph.") && name != "edge_index") continue;
    for (std::int64_t i = 0; i < original.array(name).size(); ++i)
      for (const std::int64_t value : {-2LL, -1LL, 0LL, 1LL, 2LL, 3LL, 4LL, 1LL << 31, 1LL << 40}) {
        std::map<std::string, NpyArray> arrays;
        for (const std::string& other : original.names()) arrays[other] = original.array(other);
        const NpyArray& array = original.array(name);
        std::vector<std::byte> bytes(array.data.begin(), array.data.end());
        const std::size_t width = bytes.size() / static_cast<std::size_t>(array.size());
        std::memcpy(bytes.data() + static_cast<std::size_t>(i) * width, &value, width);
        arrays[name].data = std::move(bytes);
        write_npz(folder / "b.npz", arrays);
        ++tried;
        try {
          const Dataset dataset = read_dataset(folder / "b.npz");
          ComputationGraphBuilder builder(dataset.graph);
          for (NodeId node = 0; node < 3; ++node) (void)builder.build(node, 2);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), Error::Kind::bad_input) << error.what();
          ++refused;
        }
      }
  }
  EXPECT_GT(refused, tried / 3);
  EXPECT_LT(refused, tried);  // not refused for another reason
}

TEST(DamagedFile, DeflatedNpzIsReadOrRefused) {
  const TemporaryFolder folder;
  const std::string zeros(4000, '\0');
  write_raw_zip(folder / "a.npz", {{"x.npy", raw_npy("<f4", "(1000,)", zeros)}}, ZIP_CM_DEFLATE);
  EXPECT_GT(read_damaged(folder / "a.npz", [&] { (void)read_npz(folder / "a.npz"); }), 300);
}

TEST(DamagedFile, SafetensorsIsReadOrRefused) {
  const TemporaryFolder folder;
  const auto path = folder / "a.safetensors";
  write_safetensors(path, {{{"a", {"F32", {2, 3}, std::vector<std::byte>(24)}},
                            {"b", {"I64", {}, std::vector<std::byte>(8)}}},
                           {{"key", "value"}}});
  EXPECT_GT(read_damaged(path, [&] { (void)read_safetensors(path); }), 300);
}

TEST(DamagedFile, CsvIsReadOrRefused) {
  const TemporaryFolder folder;
  write_dataset(folder / "a.csv", triangle());
  EXPECT_GT(read_damaged(folder / "a.csv", [&] { (void)read_dataset(folder / "a.csv"); }), 300);
  write_dataset(folder / "b.csv", triangle());
  EXPECT_GT(read_damaged(folder / "b.nodes.csv", [&] { (void)read_dataset(folder / "b.csv"); }),
            300);
}

TEST(DamagedFile, TuFolderIsReadOrRefused) {
  Dataset dataset = triangle();
  dataset.task = Task::graph;
  dataset.y = {0};
  dataset.name = "DS";
  split_80_10_10(dataset, 0);
  for (const std::string kind : {"A", "graph_indicator", "graph_labels", "node_attributes"}) {
    const TemporaryFolder folder;
    write_dataset(folder / "out", dataset);
    EXPECT_GT(read_damaged(folder / "out" / ("DS_" + kind + ".txt"),
                           [&] { (void)read_dataset(folder / "out"); }),
              100)
        << kind;
  }
}

TEST(DamagedFile, ExplanationsAreReadOrRefused) {
  for (const char* name : {"a.jsonl", "a.csv", "a.npz"}) {
    const TemporaryFolder folder;
    RandomStream random(11, RandomPurpose::test);
    const auto writer = new_explanation_writer(folder / name);
    for (int i = 0; i < 3; ++i) writer->write(random_explanation(i, 2, 1, random));
    writer->commit();
    EXPECT_GT(read_damaged(folder / name, [&] { (void)read_explanations(folder / name); }), 300)
        << name;
  }
}

}  // namespace
}  // namespace pgexplainer
