// SPDX-License-Identifier: Apache-2.0
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>

#include "rewriters/source/diff.h"
#include "rewriters/source/output.h"
#include "tool_test.h"

namespace hvdize::test {
namespace files_test {
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

/// Applies a unified diff, checking that its context and its removed lines are those of `before`.
std::string patched(const std::string& before, const std::string& diff) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < before.size();) {
    const size_t end = std::min(before.find('\n', at), before.size() - 1) + 1;
    lines.push_back(before.substr(at, end - at));
    at = end;
  }
  std::string out;
  size_t next = 0;
  llvm::StringRef rest(diff);
  while (!rest.empty()) {
    auto [line, behind] = rest.split('\n');
    std::string text = line.drop_front(1).str() + "\n";
    if (behind.consume_front("\\ No newline at end of file\n")) text.pop_back();
    rest = behind;
    if (line.starts_with("---") || line.starts_with("+++")) continue;
    if (line.starts_with("@@ -")) {
      unsigned start = 0, count = 1;
      llvm::StringRef range = line.drop_front(4).take_until([](char c) { return c == ' '; });
      range.split(',').first.getAsInteger(10, start);
      if (range.contains(',')) range.split(',').second.getAsInteger(10, count);
      while (next < start - (count > 0 ? 1 : 0)) out += lines[next++];
      continue;
    }
    if (line[0] != '+') {
      EXPECT_EQ(lines.at(next++), text);
    }
    if (line[0] != '-') out += text;
  }
  while (next < lines.size()) out += lines[next++];
  return out;
}

TEST(UnifiedDiff, AppliesToManyTexts) {
  unsigned state = 12345;
  auto draw = [&](unsigned n) { return (state = state * 1103515245u + 12345u) / 65536u % n; };
  for (int round = 0; round < 400; ++round) {
    std::string before, after;
    for (unsigned i = draw(40); i > 0; --i) {
      const std::string line(1, static_cast<char>('a' + draw(5)));
      if (draw(4) != 0) before += line + "\n";
      if (draw(6) != 0) after += line + "\n";
    }
    if (draw(3) == 0 && !after.empty()) after.pop_back();
    if (draw(3) == 0 && !before.empty()) before.pop_back();
    ASSERT_EQ(patched(before, unifiedDiff(before, after, "x", "y")), after) << "from:\n" << before;
  }
}

}  // namespace
}  // namespace files_test
}  // namespace hvdize::test
