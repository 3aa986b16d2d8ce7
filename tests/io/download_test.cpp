#include "pgexplainer/io/download.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <fstream>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/file_bytes.h"
#include "pgexplainer/io/public_dataset.h"
#include "pgexplainer/io/sha256.h"
#include "pgexplainer/io/tu_folder.h"
#include "pgexplainer/io/zip_reader.h"
#include "tests/support/http_server.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;
using Response = HttpServer::Response;

DownloadOptions impatient() {
  DownloadOptions options;
  options.retries = 2;
  options.retry_seconds = 0;
  options.connect_seconds = 5;
  options.stalled_seconds = 5;
  return options;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i);
  return text;
}

std::string failure(const std::function<void()>& action, Error::Kind kind = Error::Kind::failed) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "no error";
}

void make_zip(const fs::path& path, const std::vector<std::pair<std::string, std::string>>& files) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  ASSERT_NE(archive, nullptr);
  for (const auto& [name, text] : files)
    ASSERT_GE(zip_file_add(archive, name.c_str(),
                           zip_source_buffer(archive, text.data(), text.size(), 0), 0),
              0);
  ASSERT_EQ(zip_close(archive), 0);
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Download, FetchesAFileAndReportsProgress) {
  const TemporaryFolder folder;
  const std::string body = long_text();
  const HttpServer server([&](const std::string& request) { return serve_range(request, body); });
  DownloadOptions options = impatient();
  options.sha256 = sha256(body);
  std::int64_t last = 0;
  download_file(server.url(), folder / "f", options,
                [&](std::int64_t done, std::int64_t total, std::string_view) {
                  EXPECT_EQ(total, static_cast<std::int64_t>(body.size()));
                  last = done;
                  return true;
                });
  EXPECT_EQ(read_file_text(folder / "f"), body);
  EXPECT_EQ(last, static_cast<std::int64_t>(body.size()));
  EXPECT_FALSE(fs::exists(folder / "f.part"));
}

TEST(Download, GoesOnAfterACutConnection) {
  const TemporaryFolder folder;
  const std::string body = long_text();
  int count = 0;
  const HttpServer server([&](const std::string& request) {
    Response response = serve_range(request, body);
    if (count++ == 0) response.cut_after = 1000;
    return response;
  });
  download_file(server.url(), folder / "f", impatient());
  EXPECT_EQ(read_file_text(folder / "f"), body);
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(range_start(server.requests()[1]), 1000U);
}

TEST(Download, GoesOnWhereAnEarlierRunStopped) {
  const TemporaryFolder folder;
  const std::string body = long_text();
  const HttpServer server([&](const std::string& request) { return serve_range(request, body); });
  std::ofstream(folder / "f.part") << body.substr(0, 12345);
  download_file(server.url(), folder / "f", impatient());
  EXPECT_EQ(read_file_text(folder / "f"), body);
  EXPECT_EQ(range_start(server.requests().at(0)), 12345U);
}

TEST(Download, StartsOverWhenTheServerIgnoresTheRange) {
  const TemporaryFolder folder;
  const std::string body = long_text();
  const HttpServer server([&](const std::string&) { return Response{200, "", body}; });
  std::ofstream(folder / "f.part") << "something else";
  download_file(server.url(), folder / "f", impatient());
  EXPECT_EQ(read_file_text(folder / "f"), body);
}

TEST(Download, StartsOverWhenThePartIsLongerThanTheFile) {
  const TemporaryFolder folder;
  const HttpServer server([](const std::string& request) { return serve_range(request, "short"); });
  std::ofstream(folder / "f.part") << "longer than the file";
  download_file(server.url(), folder / "f", impatient());
  EXPECT_EQ(read_file_text(folder / "f"), "short");
}

TEST(Download, RemovesAFileWithAnotherChecksum) {
  const TemporaryFolder folder;
  const HttpServer server([](const std::string&) { return Response{200, "", "wrong"}; });
  DownloadOptions options = impatient();
  options.sha256 = sha256("right");
  const std::string message = failure([&] { download_file(server.url(), folder / "f", options); });
  EXPECT_NE(message.find("the SHA-256 is " + sha256("wrong")), std::string::npos) << message;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Download, SaysTheStatusOfAMissingFileAtOnce) {
  const TemporaryFolder folder;
  const HttpServer server([](const std::string&) { return Response{404, "", "no"}; });
  const std::string message =
      failure([&] { download_file(server.url(), folder / "f", impatient()); });
  EXPECT_NE(message.find("HTTP status 404"), std::string::npos) << message;
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Download, TriesAgainAfterAServerError) {
  const TemporaryFolder folder;
  int count = 0;
  const HttpServer server([&](const std::string&) {
    return count++ == 0 ? Response{503, "", "busy"} : Response{200, "", "here"};
  });
  download_file(server.url(), folder / "f", impatient());
  EXPECT_EQ(read_file_text(folder / "f"), "here");
}

TEST(Download, GivesUpAfterTheRetriesAndKeepsThePart) {
  const TemporaryFolder folder;
  const HttpServer server([](const std::string& request) {
    Response response = serve_range(request, std::string(100, 'x'));
    response.cut_after = 10;
    return response;
  });
  const std::string message =
      failure([&] { download_file(server.url(), folder / "f", impatient()); });
  EXPECT_NE(message.find("after 3 attempts"), std::string::npos) << message;
  EXPECT_EQ(read_file_text(folder / "f.part"), std::string(30, 'x'));
  EXPECT_FALSE(fs::exists(folder / "f"));
}

TEST(Download, FailsWithoutAServer) {
  const TemporaryFolder folder;
  std::string url;
  {
    url = HttpServer([](const std::string&) { return Response{}; }).url();
  }
  const std::string message = failure([&] { download_file(url, folder / "f", impatient()); });
  EXPECT_NE(message.find("127.0.0.1"), std::string::npos) << message;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Download, StopsWhenProgressSaysSo) {
  const TemporaryFolder folder;
  const HttpServer server([](const std::string&) { return Response{200, "", long_text()}; });
  const std::string message = failure([&] {
    download_file(server.url(), folder / "f", impatient(),
                  [](std::int64_t, std::int64_t, std::string_view) { return false; });
  });
  EXPECT_NE(message.find("stopped"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(folder / "f"));
}

TEST(Download, RefusesOtherAddressesAndChecksums) {
  const TemporaryFolder folder;
  std::ofstream(folder / "secret") << "x";
  for (const std::string& url :
       {"file://" + (folder / "secret").string(), std::string("not an address")})
    failure([&] { download_file(url, folder / "f", impatient()); }, Error::Kind::bad_input);
  DownloadOptions options = impatient();
  options.sha256 = "123";
  failure([&] { download_file("http://127.0.0.1/", folder / "f", options); },
          Error::Kind::bad_input);
}

TEST(UnpackZip, DropsTheFolderAllFilesShare) {
  const TemporaryFolder folder;
  make_zip(folder / "a.zip", {{"DS/a.txt", "1"}, {"DS/sub/b.txt", "2"}});
  fs::create_directory(folder / "out");
  unpack_zip(folder / "a.zip", folder / "out");
  EXPECT_EQ(read_file_text(folder / "out" / "a.txt"), "1");
  EXPECT_EQ(read_file_text(folder / "out" / "sub" / "b.txt"), "2");
}

TEST(UnpackZip, RefusesNamesThatLeadOutside) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "out");
  for (const std::string name : {"../evil", "DS/../../evil", "/tmp/evil", "..\\evil"}) {
    make_zip(folder / "a.zip", {{"fine.txt", "1"}, {name, "2"}});
    failure([&] { unpack_zip(folder / "a.zip", folder / "out"); }, Error::Kind::bad_input);
    EXPECT_FALSE(fs::exists(folder / "evil"));
    EXPECT_TRUE(fs::is_empty(folder / "out"));
  }
}

// A small TU dataset, which is not the published one.
std::string small_archive(const fs::path& path) {
  make_zip(path, {{"DS/DS_A.txt", "1, 2\n2, 1\n"},
                  {"DS/DS_graph_indicator.txt", "1\n1\n2\n"},
                  {"DS/DS_graph_labels.txt", "0\n1\n"}});
  return read_file_text(path);
}

TEST(PublicDataset, RefusesOtherContents) {
  const TemporaryFolder folder;
  const std::string archive = small_archive(folder / "a.zip");
  fs::remove(folder / "a.zip");
  const HttpServer server([&](const std::string&) { return Response{200, "", archive}; });
  const std::string message = failure(
      [&] { fetch_public_dataset("mutagenicity", folder / "out", server.url(), impatient()); });
  EXPECT_NE(message.find("Mutagenicity_A.txt is missing"), std::string::npos) << message;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(PublicDataset, TrustsAChecksumTheCallerGives) {
  const TemporaryFolder folder;
  const std::string archive = small_archive(folder / "a.zip");
  const HttpServer server([&](const std::string&) { return Response{200, "", archive}; });
  DownloadOptions options = impatient();
  options.sha256 = sha256(archive);
  fetch_public_dataset("mutagenicity", folder / "out", server.url(), options);
  EXPECT_EQ(read_tu_folder(folder / "out").num_graphs(), 2);
}

TEST(PublicDataset, RefusesAnArchiveThatIsNoZip) {
  const TemporaryFolder folder;
  const HttpServer server([](const std::string&) { return Response{200, "", "<html>"}; });
  const std::string message = failure(
      [&] { fetch_public_dataset("mutagenicity", folder / "out", server.url(), impatient()); });
  EXPECT_NE(message.find("is not a whole zip file"), std::string::npos) << message;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(PublicDataset, RefusesAFolderWithOtherFilesBeforeDownloading) {
  const TemporaryFolder folder;
  std::ofstream(folder / "mine") << "x";
  failure([&] { fetch_public_dataset("mutagenicity", folder.path(), "http://127.0.0.1:1/"); },
          Error::Kind::bad_input);
  failure([&] { fetch_public_dataset("cora", folder / "new"); }, Error::Kind::bad_input);
}

TEST(PublicDataset, VerifiesAndUnpacksMutagenicityOnce) {
  const fs::path source = "../shared/data/mutagenicity";
  if (!fs::exists(source)) GTEST_SKIP() << source << " is not here";
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, std::string>> files;
  for (const char* kind : {"A", "edge_labels", "graph_indicator", "graph_labels", "node_labels"}) {
    const std::string name = std::string("Mutagenicity_") + kind + ".txt";
    files.emplace_back("Mutagenicity/" + name, read_file_text(source / name));
  }
  make_zip(folder / "a.zip", files);
  const std::string archive = read_file_text(folder / "a.zip");
  const HttpServer server(
      [&](const std::string& request) { return serve_range(request, archive); });

  const auto first =
      fetch_public_dataset("mutagenicity", folder / "out", server.url(), impatient());
  EXPECT_FALSE(first.was_there);
  EXPECT_EQ(read_tu_folder(folder / "out").num_graphs(), 4337);
  const auto second =
      fetch_public_dataset("mutagenicity", folder / "out", server.url(), impatient());
  EXPECT_TRUE(second.was_there);
  EXPECT_EQ(server.requests().size(), 1U);
}

}  // namespace
}  // namespace pgexplainer
