// SPDX-License-Identifier: Apache-2.0
// Precompiled headers: used where they stand for the text, never noticed otherwise. A program with a toy framework is rewritten with
// and without them, and everything that comes out must be the same.
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/Path.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "rewriters/diagnostics/print.h"
#include "rewriters/driver.h"
#include "rewriters/parse/header_cache.h"
#include "tool_test.h"

namespace hvdize::test {
namespace header_cache_test {
namespace {

namespace fs = llvm::sys::fs;

const char* const kToy = R"(dialect: toy
title: toy framework
namespace: toy
reveals: [toy/toy.h, toy/more.h]
runtime: toy/distributed.h
roles:
  step:
    toy: step
)";

const char* const kHeader = R"(#pragma once
#include <initializer_list>
#include "detail.h"
#include <toy/settings.h>
namespace toy {
#ifdef SMALL
inline int size() { return 1; }
#else
inline int size() { return 2; }
#endif
void step();
template <typename F> void apply(F f) { f(1); }
}
int toy_handle();
#define TOY_CHECK(x) (x)
)";

class HeaderCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(fs::createUniqueDirectory("hvdize-headers", folder));
    for (const char* name : {"toy", "own", "near"}) fs::create_directory(folder + "/" + name);
    cache = path("cache");
    write("toy/toy.h", kHeader);
    write("toy/detail.h", "#pragma once\n");
    write("toy/settings.h", "#pragma once\n");
    write("toy/more.h", "#pragma once\n#include <toy/toy.h>\n");
    write("toy/distributed.h", "#pragma once\n#include <toy/toy.h>\nnamespace toy { void reduce(); }\n");
    std::string error;
    dialect = Dialect::parse(kToy, "toy.yaml", &error);
    ASSERT_NE(dialect, nullptr) << error;
    stages.passes = [this](PassContext& c) { insertReduce(c); };
    stages.verify = [](clang::ASTContext&, const Dialect&, DiagEngine&, const std::string&) {};
  }
  void TearDown() override { fs::remove_directories(folder); }

  std::string path(const std::string& name) const { return (folder + "/" + name).str(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name), std::ios::binary) << text; }
  static std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  /// The only file of the cache that ends so.
  std::string cached(const std::string& ending) const {
    std::string found;
    std::error_code ec;
    for (fs::directory_iterator it(cache, ec), end; it != end && !ec; it.increment(ec)) {
      if (!llvm::StringRef(it->path()).ends_with(ending)) continue;
      EXPECT_EQ(found, "") << "more than one " << ending;
      found = it->path();
    }
    EXPECT_NE(found, "") << "no " << ending;
    return found;
  }

  /// Inserts a call before each step and reports it.
  static void insertReduce(PassContext& c) {
    struct Visitor : clang::RecursiveASTVisitor<Visitor> {
      explicit Visitor(PassContext& context) : c(context) {}
      bool shouldVisitTemplateInstantiations() const { return true; }
      bool VisitCallExpr(clang::CallExpr* call) {
        if (!c.dialect.is(call, Role::Step)) return true;
        c.edits.insertBefore(call, "toy::reduce();", why("reduce"));
        c.diags.report(DiagID::AssumeIndependent, call->getSourceRange(), "Net");
        return true;
      }
      PassContext& c;
    } visitor(c);
    visitor.TraverseAST(c.ast);
  }

  RewriteResult once(const std::string& folderOfCache, std::string& said) {
    const CompileJob job{"in.cpp", folder.str().str(), flags};
    RewriteOptions options;
    options.headerCache = folderOfCache;
    DiagEngine diags;
    RewriteResult r = rewrite(options, job, dialect.get(), HVDIZE_TEST_RESOURCE_DIR, diags, stages);
    llvm::raw_string_ostream os(said);
    os << r.compilerOutput << static_cast<int>(r.status) << "\n";
    for (const Diagnostic& d : diags.sorted()) os << toJson(d) << "\n";
    for (const FileResult& f : r.files) os << f.path << "\n" << f.output << "\n";
    for (const std::string& f : r.userFiles) os << f << "\n";
    return r;
  }

  /// Rewrites with the cache and without, which must be the same; what became of the headers in the first parse.
  std::string run(const std::string& code) {
    write("in.cpp", code);
    std::string with, without;
    const RewriteResult r = once(cache, with);
    once("", without);
    EXPECT_EQ(with, without);
    EXPECT_FALSE(r.notes.empty());
    said = without;
    return r.notes.empty() ? "" : r.notes.front();
  }
  static bool starts(const std::string& note, const char* with) { return llvm::StringRef(note).starts_with(with); }
  void expectMade(const std::string& code) {
    const std::string note = run(code);
    EXPECT_TRUE(starts(note, "headers precompiled and used")) << note;
  }
  void expectUsed(const std::string& code) {
    const std::string note = run(code);
    EXPECT_TRUE(starts(note, "precompiled headers used")) << note;
  }
  void expectText(const std::string& code, const std::string& reason) {
    const std::string note = run(code);
    EXPECT_TRUE(starts(note, "headers are read as text") && llvm::StringRef(note).contains(reason)) << note;
  }

  llvm::SmallString<128> folder;
  std::string cache, said;
  std::vector<std::string> flags{"-std=c++20", "-I."};
  std::unique_ptr<Dialect> dialect;
  Stages stages;
};

const char* const kMain = "int main() {\n  toy::step();\n}\n";
const std::string kProgram = std::string("#include <toy/toy.h>\n") + kMain;

TEST_F(HeaderCacheTest, TheSecondRunUsesThem) {
  expectMade(kProgram);
  EXPECT_NE(said.find("toy::reduce();"), std::string::npos) << said;
  expectUsed(kProgram);
  write("in.cpp", kProgram);
  std::string ignored;
  EXPECT_EQ(once(cache, ignored).notes.size(), 2u) << "the output is parsed with them too";
}

TEST_F(HeaderCacheTest, AnotherProgramUsesThem) {
  expectMade(kProgram);
  expectUsed("// Other text, and headers of the standard library in front.\n#include <string>\n#include <math.h>\n#include <toy/toy.h>\n"
             "namespace toy { struct Own {}; }\ntemplate <typename T> void train(T) { toy::step(); }\nint main() { train(1); }\n");
  EXPECT_NE(said.find("toy::reduce();"), std::string::npos) << said;
}

TEST_F(HeaderCacheTest, ThroughAHeaderOfTheAuthors) {
  write("own/model.h", "#ifndef MODEL_H\n#define MODEL_H\n#define BATCH 4\n#include <toy/toy.h>\ninline void train() { toy::step(); }\n#endif\n");
  expectMade("#include \"own/model.h\"\nint main() { train(); }\n");
  expectUsed(kProgram);
  EXPECT_NE(said.find("toy::reduce();"), std::string::npos) << said;
}

TEST_F(HeaderCacheTest, DeclarationsInFront) {
  expectMade(kProgram);
  expectUsed("#include <initializer_list>\nstruct Config { int epochs = 2; };\nstatic int twice(int n) { return 2 * n; }\n" + kProgram);
  expectText("int toy_handle(int);\n" + kProgram, "'toy_handle' is used in front");
  expectText("namespace toy { int early(); }\n" + kProgram, "'toy' is used in front");
  expectText("int f(int TOY_CHECK);\n" + kProgram, "'TOY_CHECK' is used in front");
  expectText("#include <initializer_list>\nusing namespace std;\n" + kProgram, "using directive");
}

TEST_F(HeaderCacheTest, DirectivesInFront) {
  expectMade(kProgram);
  expectUsed("#define EPOCHS 3\n#ifdef __cplusplus\n#pragma GCC diagnostic push\n#endif\n" + kProgram);
  expectText("#define SMALL\n" + kProgram, "'SMALL' is defined in front");
  expectText("#undef initializer_list\n" + kProgram, "'initializer_list' is defined in front");
  expectText("#ifndef TOY_CHECK\nint first;\n#endif\n" + kProgram, "'TOY_CHECK' is used in front");
  expectText("#if defined(__linux__) && TOY_CHECK + 0\nint first;\n#endif\n" + kProgram, "'TOY_CHECK' is used in front");
  expectText("#pragma pack(1)\n" + kProgram, "#pragma");
}

TEST_F(HeaderCacheTest, AnIncludeThatIsNotTaken) {
  expectText("#ifdef NEVER\n#include <toy/toy.h>\n#endif\nnamespace toy { void step(); }\nint main() { toy::step(); }\n", "no header of a framework");
}

TEST_F(HeaderCacheTest, ProgramsThatDoNotCompile) {
  expectMade(kProgram);
  expectText("#include <toy/toy.h>\nint main() { x; }\n", "there are errors");
  EXPECT_NE(said.find("use of undeclared identifier 'x'"), std::string::npos) << said;
}

TEST_F(HeaderCacheTest, AnInstantiationInASkippedBody) {
  expectMade(kProgram);
  expectUsed("#include <toy/toy.h>\nint main() {\n  toy::apply([](auto) { toy::step(); });\n}\n");
  EXPECT_NE(said.find("toy::reduce();"), std::string::npos) << said;
}

TEST_F(HeaderCacheTest, AChangedHeader) {
  expectMade(kProgram);
  const std::string older = cached(".pch");
  write("toy/detail.h", "#pragma once\n#define step step_of_detail\n");
  EXPECT_TRUE(starts(run(kProgram), "headers precompiled and used"));
  EXPECT_NE(read(cached(".headers")).find("step_of_detail"), std::string::npos);
  write("toy/detail.h", "#pragma once\n");
  expectMade(kProgram);
  EXPECT_TRUE(fs::exists(older)) << "equal headers are equal bytes";
}

TEST_F(HeaderCacheTest, ChangedFlags) {
  expectMade(kProgram);
  flags.push_back("-DSMALL");
  expectMade(kProgram);
  flags = {"-std=c++17", "-I."};
  expectMade(kProgram);
  flags = {"-std=c++20", "-Wall", "-Iown", "-iquote", "near", "-I."};
  expectUsed(kProgram);
}

TEST_F(HeaderCacheTest, AHeaderThatComesToStandInFront) {
  expectMade(kProgram);
  fs::create_directory(path("near/toy"));
  flags = {"-std=c++20", "-Inear", "-I."};
  expectUsed(kProgram);
  write("near/detail.h", "#error found beside toy.h only\n");
  expectUsed(kProgram);
  write("near/toy/settings.h", "#pragma once\n");
  expectText(kProgram, "<toy/settings.h> is another file here");
}

TEST_F(HeaderCacheTest, FlagsThatIncludeAFile) {
  write("first.h", "#define SMALL\n");
  flags.insert(flags.end(), {"-include", "first.h"});
  expectText(kProgram, "a compiler flag includes a file");
}

TEST_F(HeaderCacheTest, DamagedFilesAreMadeAnew) {
  expectMade(kProgram);
  for (const char* ending : {".pch", ".headers"}) {
    const std::string file = cached(ending), whole = read(file);
    for (const std::string& damaged : {std::string(), whole.substr(0, whole.size() / 2), "x" + whole.substr(1), whole + "x"}) {
      std::ofstream(file, std::ios::binary) << damaged;
      expectMade(kProgram);
      EXPECT_EQ(read(file), whole);
    }
    fs::remove(file);
    expectMade(kProgram);
  }
  std::string flipped = read(cached(".pch"));
  flipped[flipped.size() / 2] ^= 1;
  std::ofstream(cached(".pch"), std::ios::binary) << flipped;
  expectMade(kProgram);
  expectUsed(kProgram);
}

TEST_F(HeaderCacheTest, AFolderThatCannotBeWritten) {
  write("cache", "a file\n");
  expectText(kProgram, "cannot be");
  fs::remove(cache);
  expectMade(kProgram);
  if (geteuid() == 0) return;  // nothing is read-only for root
  fs::setPermissions(cache, fs::perms(fs::owner_read | fs::owner_exe));
  expectUsed(kProgram);
  flags.push_back("-DSMALL");
  expectText(kProgram, "cannot be written");
  fs::setPermissions(cache, fs::owner_all);
}

TEST_F(HeaderCacheTest, WhileAnotherProcessMakesThem) {
  const HeaderCache mine(cache);
  int calls = 0;
  std::string why;
  const auto nothing = mine.make("key", [&]() -> std::optional<Precompiled> { return ++calls, std::nullopt; }, &why);
  EXPECT_FALSE(nothing);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(why, "the headers do not compile by themselves");
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready) + pipe(done), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    mine.make("key", [&]() -> std::optional<Precompiled> {
      char byte = 1;
      if (::write(ready[1], &byte, 1) != 1 || ::read(done[0], &byte, 1) != 1) _exit(1);
      return std::nullopt;
    }, &why);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(mine.make("key", [&]() -> std::optional<Precompiled> { return ++calls, std::nullopt; }, &why));
  EXPECT_EQ(calls, 1) << "made by one process at a time";
  EXPECT_EQ(why, "another process is precompiling the headers");
  ASSERT_EQ(::write(done[1], &byte, 1), 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  mine.make("key", [&]() -> std::optional<Precompiled> { return ++calls, std::nullopt; }, &why);
  EXPECT_EQ(calls, 2) << "the lock ends with the process";
  for (int end : {ready[0], ready[1], done[0], done[1]}) ::close(end);
}

TEST_F(HeaderCacheTest, TheOldestGoFirst) {
  const HeaderCache small(cache, 250);
  std::string why;
  const auto make = [&](const std::string& key, char fill) {
    small.make(key, [&] {
      Precompiled p;
      p.bytes.assign(100, fill);
      p.record.checksum = checksumOf(std::string(100, fill));
      p.record.size = 100;
      return std::optional(std::move(p));
    }, &why);
    usleep(20000);
  };
  make("a", '1');
  make("b", '2');
  EXPECT_TRUE(small.find("a")) << "and is now younger than b";
  usleep(20000);
  make("c", '3');
  EXPECT_TRUE(small.find("a"));
  EXPECT_FALSE(small.find("b"));
  EXPECT_TRUE(small.find("c"));
  EXPECT_FALSE(fs::exists(cache + "/" + checksumOf(std::string(100, '2')) + ".pch"));
  EXPECT_EQ(why, "");
}

TEST(HeaderRecord, ReadsWhatItWrites) {
  HeaderRecord r;
  r.files = {{"/a b.h", 12, -3}};
  r.includes = {{"x.h", "/y/x.h"}, {"none.h", ""}};
  r.searched = {{"x.h", "/y/x.h"}};
  r.folders = {"/y"};
  r.userFiles = {"/y/x.h"};
  r.identifiers.insert("name");
  r.macros.insert("M");
  r.globals.insert("g");
  r.checksum = checksumOf("bytes");
  r.size = 5;
  const auto again = HeaderRecord::parse(r.text());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text(), r.text());
  EXPECT_EQ(again->files.at(0).path, "/a b.h");
  EXPECT_EQ(again->files.at(0).modified, -3);
  for (size_t n = 0; n < r.text().size(); ++n) EXPECT_FALSE(HeaderRecord::parse(r.text().substr(0, n))) << n;
  EXPECT_FALSE(again->isCurrent()) << "there is no such file";
}

}  // namespace
}  // namespace header_cache_test
}  // namespace hvdize::test
