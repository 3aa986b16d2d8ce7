#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pgexplainer/io/sha256.h"
#include "tests/support/http_server.h"
#include "tests/support/raw_npz.h"
#include "tests/support/run_tool.h"

namespace pgexplainer {
namespace {

class DownloadVerb : public testing::Test {
 protected:
  void SetUp() override {
    write_raw_zip(folder_ / "a.zip", {{"DS/DS_A.txt", "1, 2\n2, 1\n"},
                                      {"DS/DS_graph_indicator.txt", "1\n1\n2\n"},
                                      {"DS/DS_graph_labels.txt", "0\n1\n"}});
    archive_ = read_file_text(folder_ / "a.zip");
    std::filesystem::remove(folder_ / "a.zip");
  }
  ToolResult download(const std::string& url, const std::string& options) const {
    return run_tool("download mutagenicity --retries 1 -o '" + output_.string() + "' --url '" +
                    url + "' " + options);
  }
  TemporaryFolder folder_;
  std::filesystem::path output_ = folder_ / "out";
  std::string archive_;
};

TEST_F(DownloadVerb, UnpacksAVerifiedArchiveAfterACutConnection) {
  int count = 0;
  const HttpServer server([&](const std::string& request) {
    auto response = serve_range(request, archive_);
    if (count++ == 0) response.cut_after = 50;
    return response;
  });
  const ToolResult result = download(server.url(), "--json --sha256 " + sha256(archive_));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["name"], "DS");
  EXPECT_EQ(json["graphs"], 2);
  EXPECT_EQ(json["url"], server.url());
  EXPECT_TRUE(std::filesystem::exists(output_ / "DS_A.txt"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.zip"));
}

TEST_F(DownloadVerb, FailsInOneSentence) {
  const HttpServer server([&](const std::string& request) {
    if (request.find("/missing") != std::string::npos) return HttpServer::Response{404, "", ""};
    return serve_range(request, archive_);
  });
  const std::string base = server.url().substr(0, server.url().rfind('/'));
  const struct {
    std::string url, options, complaint;
    int exit_code;
  } rows[] = {
      {base + "/missing", "", "HTTP status 404", 1},
      {server.url(), "", "Mutagenicity_A.txt is missing", 1},
      {server.url(), "--sha256 " + sha256("other"), "the SHA-256 is", 1},
      {server.url(), "--sha256 12", "is not a SHA-256", 2},
      {"ftp://127.0.0.1/a.zip", "", "not an http or https address", 2},
  };
  for (const auto& row : rows) {
    const ToolResult result = download(row.url, row.options);
    EXPECT_EQ(result.exit_code, row.exit_code) << result.err;
    EXPECT_NE(result.err.find(row.complaint), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path())) << row.complaint;
  }
}

TEST_F(DownloadVerb, KnowsItsNames) {
  const ToolResult result = run_tool("download cora -o '" + output_.string() + "'");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("no public dataset 'cora'"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace pgexplainer
