// SPDX-License-Identifier: Apache-2.0
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>

#include "rewriters/source/diff.h"
#include "rewriters/source/output.h"
#include "tool_test.h"

namespace hvdize::test {
namespace {

namespace fs = llvm::sys::fs;

class Output : public testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(fs::createUniqueDirectory("hvdize-output", folder)); }
  void TearDown() override { fs::remove_directories(folder); }
  std::string path(const std::string& name) const { return (folder + "/" + name).str(); }
  std::string read(const std::string& name) const { return (*llvm::MemoryBuffer::getFile(path(name)))->getBuffer().str(); }
  size_t files() const {
    std::error_code ec;
    size_t n = 0;
    for (fs::directory_iterator i(folder, ec), end; i != end && !ec; i.increment(ec)) ++n;
    return n;
  }

  llvm::SmallString<128> folder;
  std::string error;
};

TEST_F(Output, NewAndReplaced) {
  ASSERT_TRUE(writeAtomically(path("a"), "one\n", &error)) << error;
  EXPECT_EQ(read("a"), "one\n");
  fs::setPermissions(path("a"), fs::owner_all);
  ASSERT_TRUE(writeAtomically(path("a"), "two\n", &error)) << error;
  EXPECT_EQ(read("a"), "two\n");
  EXPECT_EQ(*fs::getPermissions(path("a")), fs::owner_all);
  EXPECT_EQ(files(), 1u) << "no temporary file stays behind";
}

TEST_F(Output, SameTextLeavesTheFileAlone) {
  ASSERT_TRUE(writeAtomically(path("a"), "one\n", &error));
  fs::file_status first, second;
  ASSERT_FALSE(fs::status(path("a"), first));
  ASSERT_TRUE(writeAtomically(path("a"), "one\n", &error));
  ASSERT_FALSE(fs::status(path("a"), second));
  EXPECT_EQ(first.getUniqueID(), second.getUniqueID());
}

TEST_F(Output, SymbolicLinksAreFollowed) {
  ASSERT_TRUE(writeAtomically(path("a"), "one\n", &error));
  ASSERT_FALSE(fs::create_link(path("a"), path("link")));
  ASSERT_TRUE(writeAtomically(path("link"), "two\n", &error)) << error;
  EXPECT_EQ(read("a"), "two\n");
  EXPECT_TRUE(fs::is_symlink_file(path("link")));
}

TEST_F(Output, ClearErrors) {
  EXPECT_FALSE(writeAtomically(path("no/a"), "x", &error));
  EXPECT_EQ(error, "cannot write '" + path("no/a") + "': the folder '" + path("no") + "' does not exist");
  EXPECT_FALSE(writeAtomically(folder, "x", &error));
  EXPECT_NE(error.find("it is a directory"), std::string::npos);
  EXPECT_EQ(files(), 0u);
}

TEST(UnifiedDiff, Hunks) {
  EXPECT_EQ(unifiedDiff("a\n", "a\n", "x", "y"), "");
  EXPECT_EQ(unifiedDiff("a\nb\nc\n", "a\nB\nc\n", "x", "y"), "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  EXPECT_EQ(unifiedDiff("", "a\n", "x", "y"), "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(unifiedDiff("a", "a\n", "x", "y"), "--- x\n+++ y\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
  EXPECT_EQ(unifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n", "1\nx\n2\n3\n4\n5\n6\n7\n8\n9\n11\n", "x", "y"),
            "--- x\n+++ y\n@@ -1,4 +1,5 @@\n 1\n+x\n 2\n 3\n 4\n@@ -7,5 +8,4 @@\n 7\n 8\n 9\n-10\n 11\n");
}

}  // namespace
}  // namespace hvdize::test
