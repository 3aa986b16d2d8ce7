#include "pgexplainer/io/gnn_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "pgexplainer/io/model_file.h"
#include "pgexplainer/io/zip_writer.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_explained_model.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

class GnnFile : public testing::Test {
 protected:
  /// An archive with one entry of this name.
  std::filesystem::path archive(const std::string& entry) {
    const std::filesystem::path path = folder_ / "model.pt";
    ZipWriter writer(path);
    writer.add(entry, {});
    writer.commit();
    return path;
  }
  std::filesystem::path text(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }

  TemporaryFolder folder_;
  SmallExplainedModel small_{kSum, Task::node, 5, undirected(triangle_with_tail())};
};

TEST_F(GnnFile, ReadsOurOwnModels) {
  write_model(folder_ / "model.safetensors", *small_.model, nullptr);
  const auto gnn = read_gnn(folder_ / "model.safetensors", small_.dataset);
  const GnnInput<float> whole = small_.explained->whole();
  EXPECT_EQ(gnn->predict(whole), small_.explained->gnn().predict(whole));
}

TEST_F(GnnFile, WeightsWithoutCodeAreToBeScripted) {
  for (const auto& path : {archive("archive/data.pkl"), text("old.pth", "\x80\x02}q")})
    expect_bad_input([&] { read_gnn(path, small_.dataset); },
                     {path.string(), "torch.save", "torch.jit.script(module).save("});
}

TEST_F(GnnFile, LengthOfAHeaderIsNoMarkOfPyTorch) {
  for (const std::string length : {"\x80\x02", "PK\x03\x04"}) {
    std::string content = length;
    content.resize(8, '\0');
    EXPECT_FALSE(is_torch_script(text("model.safetensors", content + "{}")));
  }
}

TEST_F(GnnFile, OtherFilesAreToldBothKinds) {
  for (const auto& path : {archive("x.npy"), text("model.txt", "hello")})
    expect_bad_input([&] { read_gnn(path, small_.dataset); },
                     {path.string(), ".safetensors", "TorchScript"});
  expect_bad_input([&] { read_gnn(text("cut.pt", "PK\x03\x04"), small_.dataset); }, {"truncated"});
  expect_bad_input([&] { read_gnn(folder_ / "none.pt", small_.dataset); }, {"no such file"});
}

// These tests do not lie beside the plug-in, whether or not it was built.
TEST_F(GnnFile, SaysWhatToInstallForTorchScript) {
  const auto path = archive("model/code/__torch__.py");
  EXPECT_TRUE(is_torch_script(path));
  expect_bad_input([&] { read_gnn(path, small_.dataset); },
                   {path.string(), "libtorch-dev", "-DPGEXPLAINER_WITH_TORCH=ON"});
}

}  // namespace
}  // namespace pgexplainer
