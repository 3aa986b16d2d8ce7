#include "pgexplainer/io/atomic_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/file_bytes.h"
#include "pgexplainer/io/npz.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

Error::Kind kind_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(AtomicFile, ReplacesTheTargetOnlyOnCommit) {
  const TemporaryFolder folder;
  std::ofstream(folder / "out") << "old";
  {
    AtomicFile file(folder / "out");
    file.write("new");
    EXPECT_EQ(read_file_text(folder / "out"), "old");
    file.commit();
  }
  EXPECT_EQ(read_file_text(folder / "out"), "new");
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  { AtomicFile(folder / "out").write("half"); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AtomicFile, FollowsALinkInsteadOfReplacingIt) {
  const TemporaryFolder folder;
  std::ofstream(folder / "real") << "old";
  std::filesystem::create_symlink(folder / "real", folder / "link");
  AtomicFile file(folder / "link");
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file_text(folder / "real"), "new");
}

TEST(AtomicFile, RefusesPlacesThatCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_EQ(kind_of([&] { AtomicFile(folder / "missing" / "out"); }), Error::Kind::bad_input);
  EXPECT_EQ(kind_of([&] { AtomicFile(folder.path()); }), Error::Kind::bad_input);
  EXPECT_EQ(kind_of([] { AtomicFile("/dev/full"); }), Error::Kind::bad_input);
  EXPECT_EQ(kind_of([&] { AtomicFile(folder / std::string(300, 'a')); }), Error::Kind::bad_input);
}

TEST(AtomicFile, RefusesAFolderWithoutPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  std::filesystem::permissions(
      folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_EQ(kind_of([&] { AtomicFile(folder / "out"); }), Error::Kind::bad_input);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

TEST(AtomicFile, FailsCleanlyWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const FileSizeLimit limit(1000);
  EXPECT_EQ(kind_of([&] {
              AtomicFile file(folder / "out");
              file.write(std::string(5000, 'x'));
              file.commit();
            }),
            Error::Kind::failed);
  EXPECT_EQ(kind_of([&] {
              write_npz(folder / "a.npz", {{"x", NpyArray::from(std::vector<double>(5000))}});
            }),
            Error::Kind::failed);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace pgexplainer
