#include "pgexplainer/io/partial_file.h"

#include <gtest/gtest.h>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/file_bytes.h"
#include "tests/support/expect_error.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/raw_npz.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

TEST(PartialFile, AppearsWithCommitAlone) {
  const TemporaryFolder folder;
  {
    PartialFile file(folder / "a", "job", false);
    file.write("one ");
    EXPECT_FALSE(std::filesystem::exists(folder / "a"));
    file.checkpoint(1);
    file.write("two");
    file.commit();
  }
  EXPECT_EQ(read_file_text(folder / "a"), "one two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(PartialFile, LeavesNothingWithoutACheckpoint) {
  const TemporaryFolder folder;
  { PartialFile(folder / "a", "job", false).write("lost"); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(PartialFile, GoesOnFromTheLastCheckpoint) {
  const TemporaryFolder folder;
  {
    PartialFile file(folder / "a", "job", true);  // nothing there: begins
    EXPECT_TRUE(file.notes().is_null());
    file.write("kept ");
    file.checkpoint({{"n", 1}});
    file.write(std::string(3 << 20, 'x'));  // more than the buffer holds
  }
  {
    PartialFile file(folder / "a", "job", true);
    EXPECT_EQ(file.notes()["n"], 1);
    file.write("and ");
    file.checkpoint({{"n", 2}});
  }
  PartialFile file(folder / "a", "job", true);
  EXPECT_EQ(file.notes()["n"], 2);
  file.write("done");
  file.commit();
  EXPECT_EQ(read_file_text(folder / "a"), "kept and done");
}

TEST(PartialFile, BeginsAnewWhenNotAskedToResume) {
  const TemporaryFolder folder;
  {
    PartialFile file(folder / "a", "job", false);
    file.write("old");
    file.checkpoint(1);
  }
  PartialFile file(folder / "a", "other", false);
  EXPECT_TRUE(file.notes().is_null());
  file.write("new");
  file.commit();
  EXPECT_EQ(read_file_text(folder / "a"), "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.partial.json"));
}

TEST(PartialFile, RefusesWhatIsNotItsOwn) {
  const TemporaryFolder folder;
  const auto begin = [&] {
    PartialFile file(folder / "a", "job", false);
    file.write("text");
    file.checkpoint(1);
  };
  const auto resume = [&] { PartialFile(folder / "a", "job", true); };
  begin();
  expect_bad_input([&] { PartialFile(folder / "a", "another", true); },
                   {"a.partial.json", "other data, model, options", "without --resume"});
  EXPECT_TRUE(std::filesystem::exists(folder / "a.partial"));  // still its owner's
  write_text(folder / "a.partial", "te");
  expect_bad_input(resume, {"a.partial", "shorter than its checkpoint says"});
  for (const char* damage :
       {"{", "[]", R"({"job":"job","bytes":-1,"notes":1})", R"({"job":"job"})"}) {
    begin();
    write_text(folder / "a.partial.json", damage);
    expect_bad_input(resume, {"a.partial.json", "damaged"});
  }
  expect_bad_input([&] { PartialFile(folder / "no" / "a", "job", false); }, {"does not exist"});
  const PartialFile busy(folder / "b", "job", false);
  expect_bad_input([&] { PartialFile(folder / "b", "job", false); }, {"another process"});
}

TEST(PartialFile, KeepsTheCheckpointWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  {
    PartialFile file(folder / "a", "job", false);
    file.write("kept");
    file.checkpoint(1);
    const FileSizeLimit limit(1000);
    file.write(std::string(5000, 'x'));
    EXPECT_THROW(file.commit(), Error);
  }
  PartialFile file(folder / "a", "job", true);
  file.commit();
  EXPECT_EQ(read_file_text(folder / "a"), "kept");
}

}  // namespace
}  // namespace pgexplainer
