#include "pgexplainer/datasets/nitro_amine_motifs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

/// Atoms by symbol; bonds as pairs of positions. Returns the marked bonds, first direction only.
std::vector<std::uint8_t> marked_bonds(const std::vector<std::string>& atoms,
                                       const std::vector<std::pair<NodeId, NodeId>>& bonds) {
  std::vector<std::int64_t> types;
  for (const std::string& atom : atoms)
    types.push_back(std::find(std::begin(kMutagenicityAtoms), std::end(kMutagenicityAtoms), atom) -
                    std::begin(kMutagenicityAtoms));
  std::vector<NodeId> source, target;
  for (const auto& [a, b] : bonds) {
    source.insert(source.end(), {a, b});
    target.insert(target.end(), {b, a});
  }
  const auto marked =
      nitro_amine_motifs(Graph(static_cast<NodeId>(atoms.size()), source, target), types);
  std::vector<std::uint8_t> result;
  for (std::size_t i = 0; i < marked.size(); i += 2) {
    EXPECT_EQ(marked[i], marked[i + 1]) << "the directions of bond " << i / 2 << " differ";
    result.push_back(marked[i]);
  }
  return result;
}

using Marks = std::vector<std::uint8_t>;
const std::vector<std::pair<NodeId, NodeId>> kStar = {{0, 1}, {0, 2}, {0, 3}};  // around atom 0

TEST(NitroAmineMotifs, MarksNitroAndAmineGroups) {
  EXPECT_EQ(marked_bonds({"N", "C", "O", "O"}, kStar), (Marks{0, 1, 1}));
  EXPECT_EQ(marked_bonds({"N", "H", "C", "H"}, kStar), (Marks{1, 0, 1}));
  EXPECT_EQ(marked_bonds({"N", "O", "O", "N"}, kStar), (Marks{1, 1, 0}));  // nitramine
  EXPECT_EQ(marked_bonds({"N", "H", "H", "S"}, kStar), (Marks{1, 1, 0}));  // sulfonamide
}

TEST(NitroAmineMotifs, LeavesOtherNitrogensAlone) {
  EXPECT_EQ(marked_bonds({"N", "O", "O", "O"}, kStar), (Marks{0, 0, 0}));  // nitrate
  EXPECT_EQ(marked_bonds({"N", "H", "H", "O"}, kStar), (Marks{0, 0, 0}));  // hydroxylamine
  EXPECT_EQ(marked_bonds({"N", "H", "H", "H"}, kStar), (Marks{0, 0, 0}));  // ammonia
  EXPECT_EQ(marked_bonds({"N", "C", "O", "H"}, kStar), (Marks{0, 0, 0}));
  EXPECT_EQ(marked_bonds({"N", "C", "C", "H"}, kStar), (Marks{0, 0, 0}));  // secondary amine
  EXPECT_EQ(marked_bonds({"P", "C", "O", "O"}, kStar), (Marks{0, 0, 0}));
  EXPECT_EQ(marked_bonds({"N", "O", "O"}, {{0, 1}, {0, 2}}), (Marks{0, 0}));  // no third neighbour
  // An oxygen with another neighbour (C-N(=O)-O-C) is not part of a nitro group.
  EXPECT_EQ(marked_bonds({"N", "C", "O", "O", "C"}, {{0, 1}, {0, 2}, {0, 3}, {3, 4}}),
            (Marks{0, 0, 0, 0}));
  EXPECT_EQ(marked_bonds({"N", "C", "H", "H", "H"}, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}),
            (Marks{0, 0, 0, 0}));  // ammonium
}

TEST(NitroAmineMotifs, RefusesWrongSizesAndDirectedBonds) {
  const std::vector<std::int64_t> types = {4, 1};
  EXPECT_THROW(nitro_amine_motifs(Graph(3, {0, 1}, {1, 0}), types), Error);
  EXPECT_THROW(nitro_amine_motifs(Graph(2, {0}, {1}), types), Error);
}

std::vector<std::int64_t> numbers_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream words(text);
  return {std::istream_iterator<std::int64_t>(words), {}};
}

TEST(NitroAmineMotifs, EqualsThePublishedGroundTruthEdgeForEdge) {
  const std::filesystem::path folder = "../shared/data/mutagenicity";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "the published Mutagenicity files are not at " << folder;
  const auto ends = numbers_of(folder / "Mutagenicity_A.txt");
  const auto types = numbers_of(folder / "Mutagenicity_node_labels.txt");
  const auto published = numbers_of(folder / "Mutagenicity_edge_gt.txt");
  ASSERT_EQ(ends.size(), 2 * 266894U);
  std::vector<NodeId> source, target;
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    source.push_back(static_cast<NodeId>(ends[i] - 1));
    target.push_back(static_cast<NodeId>(ends[i + 1] - 1));
  }
  const auto marked =
      nitro_amine_motifs(Graph(static_cast<NodeId>(types.size()), source, target), types);
  ASSERT_EQ(marked.size(), published.size());
  EXPECT_EQ(std::count(marked.begin(), marked.end(), 1), 7352);
  for (std::size_t e = 0; e < marked.size(); ++e)
    EXPECT_EQ(marked[e], published[e])
        << "edge " << e << ", atoms " << source[e] + 1 << " and " << target[e] + 1;
}

}  // namespace
}  // namespace pgexplainer
