// Malformed inputs, one row each: the tool exits with 2 (1 when the machine failed), says one
// sentence that names the file, prints nothing on stdout and leaves no file behind; the reader of
// the library throws the same sentence.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/explanation_file.h"
#include "pgexplainer/io/npz.h"
#include "pgexplainer/io/safetensors.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/raw_npz.h"
#include "tests/support/run_tool.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;
using Arrays = std::map<std::string, NpyArray>;

struct BadInput {
  std::string name;
  std::string complaint;                          ///< part of the sentence
  std::function<fs::path(const fs::path&)> make;  ///< puts the input into a folder
  bool needs_user = false;                        ///< root is not stopped by permissions
};

void PrintTo(const BadInput& row, std::ostream* out) { *out << row.name; }

void read_any(const fs::path& path) {
  if (path.extension() == ".safetensors")
    (void)read_safetensors(path);
  else if (path.extension() == ".jsonl")
    (void)read_explanations(path);
  else
    (void)read_dataset(path);
}

std::set<fs::path> files_in(const fs::path& folder) {
  std::set<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) files.insert(entry.path());
  return files;
}

class BadInputTable : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputTable, IsRefusedInOneSentence) {
  const BadInput& row = GetParam();
  if (row.needs_user && ::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TemporaryFolder folder;
  const fs::path path = row.make(folder.path());
  if (HasFatalFailure()) return;
  const auto before = files_in(folder.path());

  std::string sentence;
  try {
    read_any(path);
    ADD_FAILURE() << "the reader accepts it";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::bad_input);
    sentence = error.what();
  }
  EXPECT_NE(sentence.find(row.complaint), std::string::npos) << sentence;
  EXPECT_NE(sentence.find(folder.path().string()), std::string::npos) << sentence;
  EXPECT_EQ(std::count(sentence.begin(), sentence.end(), '\n'), 0) << sentence;

  for (const std::string option : {"", " --json"}) {
    const ToolResult result = run_tool("info '" + path.string() + "'" + option);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.err, "pgexplainer: " + sentence + "\n");
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(files_in(folder.path()), before);
}

// ---- .npz: a small valid dataset, and ways to spoil it --------------------------------------

NpyArray ints(const std::vector<std::int64_t>& values, const std::vector<std::int64_t>& shape) {
  return NpyArray::from(std::span<const std::int64_t>(values), shape);
}
NpyArray floats(const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
  return NpyArray::from(std::span<const float>(values), shape);
}

// Nodes 0 - 1 - 2, both directions.
Arrays path_of_three() {
  return {{"edge_index", ints({0, 1, 1, 2, 1, 0, 2, 1}, {2, 4})},
          {"x", floats({1, 2, 3, 4, 5, 6}, {3, 2})},
          {"y", ints({0, 1, 0}, {3})},
          {"train_mask", NpyArray::from_mask({1, 0, 0})},
          {"val_mask", NpyArray::from_mask({0, 1, 0})},
          {"test_mask", NpyArray::from_mask({0, 0, 1})}};
}

// Two graphs, 0 - 1 and 2.
Arrays two_graphs() {
  return {{"edge_index", ints({0, 1, 1, 0}, {2, 2})},
          {"x", floats({1, 2, 3}, {3, 1})},
          {"y", ints({0, 1}, {2})},
          {"graph_ptr", ints({0, 2, 3}, {3})},
          {"edge_ptr", ints({0, 2, 2}, {3})}};
}

BadInput arrays(const std::string& name, const std::string& complaint,
                const std::function<void(Arrays&)>& spoil, Arrays (*start)() = path_of_three) {
  return {name, complaint, [=](const fs::path& folder) {
            Arrays content = start();
            spoil(content);
            write_npz(folder / "data.npz", content);
            return folder / "data.npz";
          }};
}

BadInput graphs(const std::string& name, const std::string& complaint,
                const std::function<void(Arrays&)>& spoil) {
  return arrays(name, complaint, spoil, two_graphs);
}

// The array x is these bytes.
BadInput npy(const std::string& name, const std::string& complaint, const std::string& x) {
  return {name, complaint, [=](const fs::path& folder) {
            write_raw_zip(folder / "data.npz",
                          {{"x.npy", x},
                           {"y.npy", raw_npy("<i8", "(3,)", raw_values<std::int64_t>({0, 1, 0}))},
                           {"edge_index.npy", raw_npy("<i8", "(2, 0)", "")}});
            return folder / "data.npz";
          }};
}

// The bytes of a valid file, changed.
BadInput bytes(const std::string& name, const std::string& complaint,
               const std::function<void(const fs::path&)>& spoil) {
  return {name, complaint, [=](const fs::path& folder) {
            write_npz(folder / "data.npz", path_of_three());
            spoil(folder / "data.npz");
            return folder / "data.npz";
          }};
}

BadInput text_file(const std::string& name, const std::string& complaint, const std::string& file,
                   const std::string& text) {
  return {name, complaint, [=](const fs::path& folder) {
            write_text(folder / file, text);
            return folder / file;
          }};
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

const std::string kSixFloats = raw_values<float>({1, 2, 3, 4, 5, 6});

INSTANTIATE_TEST_SUITE_P(
    Files, BadInputTable,
    testing::Values(
        BadInput{"Missing", "no such file",
                 [](const fs::path& folder) { return folder / "a.npz"; }},
        BadInput{"MissingSafetensors", "no such file",
                 [](const fs::path& folder) { return folder / "a.safetensors"; }},
        BadInput{"FileAsFolder", "no such file",
                 [](const fs::path& folder) {
                   write_text(folder / "f", "x");
                   return folder / "f" / "a.npz";
                 }},
        BadInput{"DanglingLink", "no such file",
                 [](const fs::path& folder) {
                   fs::create_symlink(folder / "nowhere", folder / "a.npz");
                   return folder / "a.npz";
                 }},
        BadInput{"FolderNamedNpz", "not a TU dataset",
                 [](const fs::path& folder) {
                   fs::create_directory(folder / "a.npz");
                   return folder / "a.npz";
                 }},
        BadInput{"NamedPipe", "not a regular file",
                 [](const fs::path& folder) {
                   EXPECT_EQ(::mkfifo((folder / "a.npz").c_str(), 0600), 0);
                   return folder / "a.npz";
                 }},
        BadInput{"NoPermission", "Permission denied",
                 [](const fs::path& folder) {
                   write_npz(folder / "a.npz", path_of_three());
                   fs::permissions(folder / "a.npz", fs::perms::none);
                   return folder / "a.npz";
                 },
                 true},
        text_file("EmptyNpz", "the file is empty", "a.npz", ""),
        text_file("EmptySafetensors", "the file is empty", "a.safetensors", ""),
        text_file("TextAsNpz", "not a whole .npz", "a.npz", "hello\n"),
        text_file("UnknownEnding", "expected NAME.npz, NAME.csv or a TU folder", "a.xyz", "x"),
        text_file("NodeFileAlone", "give the file of its edges", "a.nodes.csv",
                  "node,label\n0,0\n"),
        bytes("HalfAZip", "not a whole .npz",
              [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); }),
        bytes("ZipWithoutLastByte", "not a whole .npz",
              [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) - 1); }),
        bytes("NoArrays", "holds no .npy array",
              [](const fs::path& path) {
                write_raw_zip(path, {{"readme.txt", "hello"}});
              }),
        bytes("ChangedData", "is damaged",
              [](const fs::path& path) { patch_file(path, kSixFloats, std::string(24, 'x')); }),
        bytes("ChangedDeflatedData", "array x is damaged",
              [](const fs::path& path) {
                std::vector<std::int64_t> values(1000);
                for (std::size_t i = 0; i < values.size(); ++i)
                  values[i] = static_cast<std::int64_t>(i * i);
                write_raw_zip(path, {{"x.npy", raw_npy("<i8", "(1000,)", raw_values(values))}},
                              ZIP_CM_DEFLATE);
                std::string text = read_file_text(path);
                for (std::size_t i = 0; i < 8; ++i) text[text.size() / 2 + i] ^= '\x55';
                write_text(path, text);
              }),
        bytes("ArrayTwice", "array y occurs twice",
              [](const fs::path& path) {
                Arrays content = path_of_three();
                content["z"] = content["y"];
                write_npz(path, content);
                patch_file(path, "z.npy", "y.npy");
              }),
        bytes("EncryptedEntry", "cannot be unpacked",
              [](const fs::path& path) {
                std::string text = read_file_text(path);
                for (const std::string mark : {"PK\x03\x04", "PK\x01\x02"})
                  for (std::size_t at = text.find(mark); at != std::string::npos;
                       at = text.find(mark, at + 1))
                    text[at + (mark[2] == '\x03' ? 6 : 8)] |= 1;
                write_text(path, text);
              }),
        bytes("UnknownCompression", "cannot be unpacked",
              [](const fs::path& path) {
                std::string text = read_file_text(path);
                for (const std::string mark : {"PK\x03\x04", "PK\x01\x02"})
                  for (std::size_t at = text.find(mark); at != std::string::npos;
                       at = text.find(mark, at + 1))
                    text[at + (mark[2] == '\x03' ? 8 : 10)] = 97;
                write_text(path, text);
              }),
        bytes("ClaimsGigabytes", "more than the file can hold",
              [](const fs::path& path) {
                std::string text = read_file_text(path);
                const std::size_t at = text.find("PK\x01\x02");
                const auto name = static_cast<unsigned char>(text[at + 28]);
                const std::size_t size = at + 46 + name + 4;  // in the ZIP64 field
                text.replace(size, 8, std::string("\xF0\xFF\xFF\xEF\0\0\0\0", 8));
                write_text(path, text);
              })),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Npy, BadInputTable,
    testing::Values(
        npy("NoMark", "mark of an .npy array", "this is not an array at all"),
        npy("TooShort", "truncated", "\x93NUM"),
        npy("Version", ".npy version 9.0", std::string("\x93NUMPY\x09\x00\x10\x00", 10) + "x"),
        npy("HeaderTooLong", "header longer", std::string("\x93NUMPY\x01\x00\xFF\xFF", 10) + "{}"),
        npy("HeaderNotADictionary", "broken .npy header", raw_npy("[1, 2]", "")),
        npy("HeaderCutOff", "broken .npy header", raw_npy("{'descr': '<f4', 'shape': (3, 2", "")),
        npy("HeaderWithoutShape", "broken .npy header",
            raw_npy("{'descr': '<f4', 'fortran_order': False, }", kSixFloats)),
        npy("HeaderWithAnotherKey", "broken .npy header",
            raw_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), 'a': 1}",
                    kSixFloats)),
        npy("HeaderKeyTwice", "broken .npy header",
            raw_npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}",
                    kSixFloats)),
        npy("HeaderThenMore", "broken .npy header",
            raw_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)} + 1", kSixFloats)),
        npy("BigEndian", "big-endian", raw_npy(">f4", "(3, 2)", kSixFloats)),
        npy("Objects", "Python objects", raw_npy("|O", "(3, 2)", kSixFloats)),
        npy("Structured", "structured array",
            raw_npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}",
                    kSixFloats)),
        npy("FortranOrder", "Fortran order",
            raw_npy("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}", kSixFloats)),
        npy("UnknownType", "has the type '<q8'", raw_npy("<q8", "(3,)", kSixFloats)),
        npy("ComplexNumbers", "expected numbers", raw_npy("<c8", "(3, 1)", kSixFloats)),
        npy("Texts", "expected numbers", raw_npy("<U2", "(3, 1)", kSixFloats)),
        npy("NegativeLength", "negative length", raw_npy("<f4", "(-3, 2)", kSixFloats)),
        npy("HugeShape", "impossibly large",
            raw_npy("<f4", "(4611686018427387904, 4)", kSixFloats)),
        npy("HugeNumber", "impossibly large", raw_npy("<f4", "(99999999999999999999,)", "")),
        npy("ManyDimensions", "more than 32 dimensions",
            raw_npy("<f4", "(" + repeated("1, ", 33) + ")", kSixFloats)),
        npy("FewerBytesThanTheShape", "needs 32 bytes, but holds 24",
            raw_npy("<f4", "(4, 2)", kSixFloats)),
        npy("MoreBytesThanTheShape", "needs 16 bytes, but holds 24",
            raw_npy("<f4", "(2, 2)", kSixFloats)),
        npy("OneDimension", "expected 2 dimensions", raw_npy("<f4", "(6,)", kSixFloats))),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Dataset, BadInputTable,
    testing::Values(
        arrays("NoEdges", "no array edge_index", [](Arrays& a) { a.erase("edge_index"); }),
        arrays("NoFeatures", "no array x", [](Arrays& a) { a.erase("x"); }),
        arrays("NoLabels", "no array y", [](Arrays& a) { a.erase("y"); }),
        arrays("NoNodes", "no nodes",
               [](Arrays& a) {
                 a = {{"x", floats({}, {0, 2})},
                      {"y", ints({}, {0})},
                      {"edge_index", ints({}, {2, 0})}};
               }),
        arrays("ThreeRowsOfEdges", "expected (2, number of edges)",
               [](Arrays& a) {
                 a["edge_index"] = ints({0, 1, 2}, {3, 1});
               }),
        arrays("FlatEdges", "expected (2, number of edges)",
               [](Arrays& a) {
                 a["edge_index"] = ints({0, 1}, {2});
               }),
        arrays("FractionalEdges", "expected whole numbers",
               [](Arrays& a) {
                 a["edge_index"] = floats({0, 1}, {2, 1});
               }),
        arrays("EdgeOutOfRange", "names node 3 in edge 1; the nodes are 0 to 2",
               [](Arrays& a) {
                 a["edge_index"] = ints({0, 1, 1, 3}, {2, 2});
               }),
        arrays("NegativeEdge", "names node -1 in edge 0",
               [](Arrays& a) {
                 a["edge_index"] = ints({-1, 1}, {2, 1});
               }),
        arrays("NanFeature", "x has the value nan in row 1, column 0",
               [](Arrays& a) {
                 a["x"] = floats({1, 2, std::nanf(""), 4, 5, 6}, {3, 2});
               }),
        arrays("InfiniteFeature", "x has the value -inf",
               [](Arrays& a) {
                 a["x"] = floats({1, 2, 3, 4, 5, -std::numeric_limits<float>::infinity()}, {3, 2});
               }),
        arrays("TooLargeFeature", "does not fit",
               [](Arrays& a) {
                 a["x"] = NpyArray::from(Matrix<double>(Matrix<double>::Constant(3, 2, 1e300)));
               }),
        arrays("FeaturesWithoutColumns", "x has no columns",
               [](Arrays& a) {
                 a["x"] = floats({}, {3, 0});
               }),
        arrays("LabelWithoutNode", "y has 4 entries, expected 3",
               [](Arrays& a) {
                 a["y"] = ints({0, 1, 0, 1}, {4});
               }),
        arrays("NodeWithoutLabel", "y has 2 entries, expected 3",
               [](Arrays& a) {
                 a["y"] = ints({0, 1}, {2});
               }),
        arrays("FractionalLabel", "expected whole numbers",
               [](Arrays& a) {
                 a["y"] = floats({0, 1, 0.5}, {3});
               }),
        arrays("NegativeLabel", "y[1] is -1",
               [](Arrays& a) {
                 a["y"] = ints({0, -1, 0}, {3});
               }),
        arrays("HugeLabel", "y[2] is 4000000000",
               [](Arrays& a) {
                 a["y"] = ints({0, 1, 4'000'000'000}, {3});
               }),
        arrays("LabelsAsColumn", "expected 1 dimension",
               [](Arrays& a) {
                 a["y"] = ints({0, 1, 0}, {3, 1});
               }),
        arrays("ShortMask", "val_mask has 2 entries, expected 3",
               [](Arrays& a) {
                 a["val_mask"] = NpyArray::from_mask({0, 0});
               }),
        arrays("MasksOverlap", "more than one of train_mask",
               [](Arrays& a) {
                 a["val_mask"] = NpyArray::from_mask({1, 0, 0});
               }),
        arrays("MaskOfTwos", "expected 0 or 1",
               [](Arrays& a) {
                 a["val_mask"] = ints({0, 2, 0}, {3});
               }),
        arrays("MaskMissing", "give all three masks or none",
               [](Arrays& a) { a.erase("test_mask"); }),
        arrays("ShortGroundTruth", "edge_gt has 3 entries, expected 4",
               [](Arrays& a) {
                 a["edge_gt"] = NpyArray::from_mask({0, 1, 0});
               }),
        arrays("ShortWeights", "edge_weight has 1 entries, expected 4",
               [](Arrays& a) { a["edge_weight"] = floats({1}, {1}); }),
        arrays("NanWeight", "edge_weight has the value nan",
               [](Arrays& a) {
                 a["edge_weight"] = floats({1, 1, std::nanf(""), 1}, {4});
               }),
        arrays("ShortEdgeFeatures", "edge_attr has 3 entries, expected 4",
               [](Arrays& a) {
                 a["edge_attr"] = floats({1, 2, 3}, {3, 1});
               }),
        arrays("EvaluatedNodeOutOfRange", "the evaluated node 3 does not exist",
               [](Arrays& a) {
                 a["eval_nodes"] = ints({0, 3}, {2});
               }),
        arrays("NumbersAsNames", "expected texts",
               [](Arrays& a) { a["node_type_names"] = ints({1}, {1}); }),
        graphs("GraphsStartLate", "graph_ptr must start at 0",
               [](Arrays& a) {
                 a["graph_ptr"] = ints({1, 2, 3}, {3});
               }),
        graphs("GraphsFall", "graph_ptr must start at 0, never fall",
               [](Arrays& a) {
                 a["graph_ptr"] = ints({0, 4, 3}, {3});
               }),
        graphs("GraphsEndEarly", "end at the number of nodes (3)",
               [](Arrays& a) {
                 a["graph_ptr"] = ints({0, 1, 2}, {3});
               }),
        graphs("HugeGraphPointer", "does not fit",
               [](Arrays& a) {
                 a["graph_ptr"] = ints({0, 2, 5'000'000'000}, {3});
               }),
        graphs("NegativeGraphPointer", "graph_ptr must start at 0",
               [](Arrays& a) {
                 a["graph_ptr"] = ints({0, -1, 3}, {3});
               }),
        graphs("NoEdgePointers", "no array edge_ptr", [](Arrays& a) { a.erase("edge_ptr"); }),
        graphs("EdgePointersBeyondTheEdges", "end at the number of edges (2)",
               [](Arrays& a) {
                 a["edge_ptr"] = ints({0, 2, 9}, {3});
               }),
        graphs("MoreGraphsThanEdgePointers", "describes 2 graphs but edge_ptr 1",
               [](Arrays& a) {
                 a["edge_ptr"] = ints({0, 2}, {2});
               }),
        graphs("EdgeBetweenGraphs", "which is in another graph",
               [](Arrays& a) {
                 a["edge_index"] = ints({0, 2, 2, 0}, {2, 2});
               }),
        graphs("EvaluatedGraphOutOfRange", "the evaluated graph 2 does not exist",
               [](Arrays& a) { a["eval_graphs"] = ints({2}, {1}); })),
    [](const auto& row) { return row.param.name; });

// ---- CSV ------------------------------------------------------------------------------------

BadInput edges(const std::string& name, const std::string& complaint, const std::string& text,
               const std::string& nodes = "") {
  return {name, complaint, [=](const fs::path& folder) {
            write_text(folder / "net.csv", text);
            if (!nodes.empty()) write_text(folder / "net.nodes.csv", nodes);
            return folder / "net.csv";
          }};
}

BadInput nodes(const std::string& name, const std::string& complaint, const std::string& text) {
  return edges(name, "net.nodes.csv: " + complaint, "source,target\n0,1\n", text);
}

INSTANTIATE_TEST_SUITE_P(
    Csv, BadInputTable,
    testing::Values(
        edges("Empty", "expected a header", ""),
        edges("OnlyAHeader", "no nodes", "source,target\n"),
        edges("NoTarget", "line 1: the header has no column target", "source,sink\n0,1\n"),
        edges("NoHeader", "line 1: the header has no column source", "0,1\n1,0\n"),
        edges("ColumnTwice", "two columns target", "source,target,target\n0,1,1\n"),
        edges("ColumnWithoutName", "column 3 has no name", "source,target,\n0,1,1\n"),
        edges("ShortLine", "line 3: there are 1 fields, expected 2", "source,target\n0,1\n1\n"),
        edges("LongLine", "line 2: there are 3 fields, expected 2", "source,target\n0,1,2\n"),
        edges("EmptyLineInside", "line 3: there are 1 fields", "source,target\n0,1\n\n1,0\n"),
        edges("Word", "'b' is not a whole number", "source,target\n0,b\n"),
        edges("Fraction", "'1.5' is not a whole number", "source,target\n0,1.5\n"),
        edges("Quoted", "is not a whole number", "source,target\n\"0\",\"1\"\n"),
        edges("Semicolons", "no column source", "source;target\n0;1\n"),
        edges("NegativeNode", "node -1 does not exist", "source,target\n0,-1\n"),
        edges("NumberTooLong", "is not a whole number",
              "source,target\n0,100000000000000000000000\n"),
        edges("NodeFarAway", "name nodes up to 2000000000", "source,target\n0,2000000000\n"),
        edges("NanWeight", "'nan' is not a finite number", "source,target,weight\n0,1,nan\n"),
        edges("HugeWeight", "'1e39' is not a finite number", "source,target,weight\n0,1,1e39\n"),
        edges("WeightMissing", "'' is not a finite number", "source,target,weight\n0,1,\n"),
        edges("GroundTruthOfTwo", "expected 0 or 1", "source,target,ground_truth\n0,1,2\n"),
        edges("Binary", "no column source", std::string("\0\1\2\xFF\n\0", 6)),
        edges("NodeOutsideTheNodeFile", "node 1 does not exist; the nodes are 0 to 0",
              "source,target\n0,1\n", "node,label\n0,0\n"),
        nodes("NodesWithoutLabels", "line 1: the header has no column label", "node,x\n0,1\n1,1\n"),
        nodes("NodeTwice", "line 3: node 0 occurs a second time", "node,label\n0,0\n0,1\n"),
        nodes("NodeNumberTooLarge", "line 3: node 5 is out of range", "node,label\n0,0\n5,1\n"),
        nodes("LabelWithoutNode", "line 3: '' is not a whole number", "node,label\n0,0\n,1\n"),
        nodes("NegativeLabel", "line 3: the label is -1", "node,label\n0,0\n1,-1\n"),
        nodes("UnknownSplit", "line 2: the split is 'dev'", "node,label,split\n0,0,dev\n1,0,\n"),
        nodes("InfiniteFeature", "line 2: 'inf' is not a finite number",
              "node,label,f\n0,0,inf\n1,0,1\n"),
        nodes("NoNodeLines", "there are 0 nodes", "node,label\n")),
    [](const auto& row) { return row.param.name; });

// ---- TU folders -----------------------------------------------------------------------------

// Graphs 1 - 2 and 3 - 4; an empty text removes the file.
BadInput tu(const std::string& name, const std::string& complaint,
            const std::map<std::string, std::string>& changes) {
  return {name, complaint, [=](const fs::path& folder) {
            std::map<std::string, std::string> files{{"DS_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n"},
                                                     {"DS_graph_indicator.txt", "1\n1\n2\n2\n"},
                                                     {"DS_graph_labels.txt", "0\n1\n"}};
            for (const auto& [file, text] : changes) files[file] = text;
            for (const auto& [file, text] : files)
              if (!text.empty()) write_text(folder / file, text);
            return folder;
          }};
}

std::string many_labels() {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(i) + "\n";
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    TuFolder, BadInputTable,
    testing::Values(
        tu("NoAdjacency", "no file NAME_A.txt", {{"DS_A.txt", ""}}),
        tu("TwoDatasets", "2 files NAME_A.txt", {{"Other_A.txt", "1, 2\n"}}),
        tu("NoGraphLabels", "DS_graph_labels.txt: no such file", {{"DS_graph_labels.txt", ""}}),
        tu("NoIndicator", "DS_graph_indicator.txt: no such file", {{"DS_graph_indicator.txt", ""}}),
        tu("GraphLabelIsAWord", "line 2: 'b' is not a whole number",
           {{"DS_graph_labels.txt", "0\nb\n"}}),
        tu("TwoGraphLabelsInALine", "expected one", {{"DS_graph_labels.txt", "0, 1\n1, 1\n"}}),
        tu("NodesNotSorted", "line 3: a node of graph 1 follows one of graph 2",
           {{"DS_graph_indicator.txt", "1\n2\n1\n2\n"}}),
        tu("NodesOfUnknownGraph", "line 4: graph 3 does not exist",
           {{"DS_graph_indicator.txt", "1\n1\n2\n3\n"}}),
        tu("GraphZero", "line 1: graph 0 does not exist",
           {{"DS_graph_indicator.txt", "0\n0\n1\n1\n"}}),
        tu("EdgeOfNodeZero", "line 1: node 0 does not exist", {{"DS_A.txt", "0, 1\n"}}),
        tu("EdgeBeyondTheNodes", "line 2: node 5 does not exist", {{"DS_A.txt", "1, 2\n2, 5\n"}}),
        tu("EdgeBetweenGraphs", "joins nodes 2 and 3 of different graphs",
           {{"DS_A.txt", "2, 3\n"}}),
        tu("EdgeOfThreeNodes", "expected two node numbers", {{"DS_A.txt", "1, 2, 3\n"}}),
        tu("EdgeOfOneNode", "expected two node numbers", {{"DS_A.txt", "1\n"}}),
        tu("RaggedAttributes", "line 2: there are 1 fields, expected 2",
           {{"DS_node_attributes.txt", "1, 2\n1\n1, 2\n1, 2\n"}}),
        tu("NanAttribute", "'NaN' is not a finite number",
           {{"DS_node_attributes.txt", "1\nNaN\n1\n1\n"}}),
        tu("TooFewNodeLabels", "there are 3 lines, expected 4 (one per node)",
           {{"DS_node_labels.txt", "0\n1\n0\n"}}),
        tu("TooManyKindsOfLabels", "2000 different labels",
           {{"DS_node_labels.txt", many_labels()}}),
        tu("TooManyEdgeLabels", "there are 5 lines, expected 4 (one per edge)",
           {{"DS_edge_labels.txt", "0\n1\n0\n1\n0\n"}}),
        tu("TooFewGroundTruths", "there are 1 lines, expected 4", {{"DS_edge_gt.txt", "0\n"}}),
        tu("GroundTruthOfTwo", "line 3: the value is 2", {{"DS_edge_gt.txt", "0\n1\n2\n1\n"}}),
        tu("BrokenSplit", "split.npz: is not a whole .npz", {{"split.npz", "hello"}})),
    [](const auto& row) { return row.param.name; });

// ---- safetensors ----------------------------------------------------------------------------

// Eight bytes of data follow the header.
BadInput tensors(const std::string& name, const std::string& complaint, const std::string& header) {
  return text_file(name, complaint, "m.safetensors",
                   raw_values<std::uint64_t>({header.size()}) + header + "01234567");
}

INSTANTIATE_TEST_SUITE_P(
    Safetensors, BadInputTable,
    testing::Values(
        text_file("TooShort", "too short", "m.safetensors", "abc"),
        text_file("HeaderBeyondTheFile", "the header should have", "m.safetensors",
                  raw_values<std::uint64_t>({1000}) + "{}"),
        text_file("HugeHeader", "the header should have", "m.safetensors",
                  std::string(8, '\xFF') + "{}"),
        text_file("AText", "the header should have", "m.safetensors", "this is only a text"),
        tensors("BrokenJson", "not a JSON object", R"({"a": )"),
        tensors("JsonList", "not a JSON object", "[1, 2]"),
        tensors("NotUtf8", "not a JSON object", "{\"\xFF\xFE\": 1}"),
        tensors("DeepJson", "not a JSON object", repeated("[", 100'000)),
        tensors("TensorIsANumber", "has no dtype", R"({"a": 1})"),
        tensors("UnknownType", "has the type 'Q4'",
                R"({"a":{"dtype":"Q4","shape":[8],"data_offsets":[0,8]}})"),
        tensors("NoOffsets", "no list data_offsets", R"({"a":{"dtype":"U8","shape":[8]}})"),
        tensors("Overlap", "tensor b overlaps",
                R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},)"
                R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})"),
        tensors("Hole", "leaving a hole",
                R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})"),
        tensors("BeyondTheFile", "it is truncated",
                R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})"),
        tensors("HugeOffsets", "whole number",
                R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,18446744073709551615]}})"),
        tensors("NegativeOffset", "data_offsets [-8,0]",
                R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[-8,0]}})"),
        tensors("ThreeOffsets", "expected a begin and an end",
                R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,4,8]}})"),
        tensors("SizeOfAnotherShape", "which needs 12 bytes",
                R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})"),
        tensors("NegativeLength", "negative length",
                R"({"a":{"dtype":"U8","shape":[-8],"data_offsets":[0,8]}})"),
        tensors("HugeShape", "impossibly large",
                R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,8]}})"),
        tensors("BytesLeftOver", "belong to no tensor", "{}"),
        tensors("TensorTwice", "names 'a' twice",
                R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},)"
                R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})"),
        tensors("MetadataOfNumbers", "is not a string",
                R"({"__metadata__":{"k":1},"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})")),
    [](const auto& row) { return row.param.name; });

// ---- explanations -----------------------------------------------------------------------------

BadInput explanations(const std::string& name, const std::string& complaint,
                      const std::string& line) {
  return text_file(name, complaint, "x.jsonl", line + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Explanations, BadInputTable,
    testing::Values(explanations("BrokenJson", "line 1", R"({"instance": )"),
                    explanations("JsonList", "line 1", "[1, 2]"),
                    explanations("NoEdges", "edges", R"({"instance":1})"),
                    explanations("NegativeInstance", "instance",
                                 R"({"instance":-1,"prediction":null,"edges":[],)"
                                 R"("edge_ids":[],"selected":[],"nodes":[0],"targets":[]})"),
                    explanations("EdgeOfTwo", "edges",
                                 R"({"instance":1,"prediction":null,"edges":[[0,1]],)"
                                 R"("edge_ids":[0],"selected":[],"nodes":[0,1],"targets":[1]})"),
                    explanations("SelectedBeyondTheEdges", "selected",
                                 R"({"instance":1,"prediction":null,"edges":[[0,1,2]],)"
                                 R"("edge_ids":[0],"selected":[1],"nodes":[0,1],"targets":[1]})")),
    [](const auto& row) { return row.param.name; });

// ---- places that cannot be written ----------------------------------------------------------

void expect_refused_output(const fs::path& folder, const std::string& output, int exit_code,
                           const std::string& complaint) {
  const auto before = files_in(folder);
  const ToolResult result = run_tool("generate ba-shapes -o '" + output + "'");
  EXPECT_EQ(result.exit_code, exit_code);
  EXPECT_NE(result.err.find(complaint), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(files_in(folder), before);
}

TEST(BadOutput, FullDisk) {
  const TemporaryFolder folder;
  const FileSizeLimit limit(4000);
  expect_refused_output(folder.path(), (folder / "out.npz").string(), 1, "writing failed");
}

TEST(BadOutput, MissingFolder) {
  const TemporaryFolder folder;
  expect_refused_output(folder.path(), (folder / "no" / "out.npz").string(), 2, "does not exist");
}

TEST(BadOutput, AFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "out.npz");
  expect_refused_output(folder.path(), (folder / "out.npz").string(), 2, "it is a folder");
}

TEST(BadOutput, ADevice) {
  const TemporaryFolder folder;
  expect_refused_output(folder.path(), "/dev/full", 2, "not a regular file");
}

TEST(BadOutput, NoPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  fs::create_directory(folder / "locked");
  fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  expect_refused_output(folder.path(), (folder / "locked" / "out.npz").string(), 2,
                        "Permission denied");
}

}  // namespace
}  // namespace pgexplainer
