// SPDX-License-Identifier: Apache-2.0
// The pipeline with passes of the test's own.
#include "rewriters/driver.h"

#include <llvm/Support/FileSystem.h>

#include "tool_test.h"

namespace hvdize::test {
namespace driver_test {
namespace {

const char* const kToy = R"(dialect: toy
title: toy framework
namespace: toy
reveals: [toy/toy.h]
runtime: toy/distributed.h
roles:
  step:
    toy: step
)";

void write(const std::string& path, const std::string& text) {
  std::error_code ec;
  llvm::raw_fd_ostream(path, ec) << text;
  ASSERT_FALSE(ec) << ec.message();
}

class Driver : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("hvdize-driver", folder));
    llvm::sys::fs::create_directory(folder + "/toy");
    write(path("toy/toy.h"), "#pragma once\nnamespace toy { void step(); }\n");
    write(path("toy/distributed.h"), "#pragma once\n#include \"toy.h\"\nnamespace toy { void reduce(); }\n");
    write(path("own.h"), "inline void own() {}\n");
    std::string error;
    dialect = Dialect::parse(kToy, "toy.yaml", &error);
    ASSERT_NE(dialect, nullptr) << error;
    stages.passes = [this](PassContext& c) { insertReduce(c, "toy::reduce();"); };
    stages.verify = [](clang::ASTContext&, const Dialect&, DiagEngine&, const std::string&) {};
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }
  std::string path(const std::string& name) const { return (folder + "/" + name).str(); }

  void insertReduce(PassContext& c, const std::string& code) {
    EXPECT_EQ(llvm::StringRef(c.frameworkFolder).ends_with("/toy/"), true) << c.frameworkFolder;
    struct Visitor : clang::RecursiveASTVisitor<Visitor> {
      bool VisitCallExpr(clang::CallExpr* call) {
        ++all;
        if (dialect->is(call, Role::Step)) steps.push_back(call);
        return true;
      }
      const Dialect* dialect;
      int all = 0;
      std::vector<clang::CallExpr*> steps;
    } visitor;
    visitor.dialect = &c.dialect;
    visitor.TraverseAST(c.ast);
    visited = visitor.all;
    for (auto* s : visitor.steps) c.edits.insertBefore(s, code, why("reduce"));
    c.summary.trainer = !visitor.steps.empty();
  }

  RewriteResult run(const std::string& code, DiagEngine& diags) {
    write(path("in.cpp"), code);
    const CompileJob job{"in.cpp", folder.str().str(), {"-std=c++20", "-I", folder.str().str()}};
    return rewrite(options, job, dialect.get(), HVDIZE_TEST_RESOURCE_DIR, diags, stages);
  }

  llvm::SmallString<128> folder;
  std::unique_ptr<Dialect> dialect;
  Stages stages;
  RewriteOptions options;
  DiagEngine diags;
  int visited = 0;
};

const char* const kProgram = "#include <toy/toy.h>\n#include \"own.h\"\nint main() {\n  own();\n  toy::step();\n}\n";

TEST_F(Driver, WritesTheEditsAndTheInclude) {
  const RewriteResult r = run(kProgram, diags);
  EXPECT_EQ(r.status, RewriteStatus::Written) << r.compilerOutput;
  ASSERT_EQ(r.files.size(), 1u);
  EXPECT_EQ(r.files[0].input, kProgram);
  EXPECT_EQ(r.files.at(0).output,
            "#include <toy/toy.h>\n#include <toy/distributed.h>\n#include \"own.h\"\nint main() {\n  own();\n  toy::reduce();\n  toy::step();\n}\n");
  EXPECT_EQ(r.files[0].editLines, (std::vector<unsigned>{5, 1}));
  EXPECT_EQ(visited, 2);
  ASSERT_EQ(r.userFiles.size(), 3u);
  EXPECT_EQ(r.userFiles[0], "in.cpp");
}

TEST_F(Driver, ItsOutputIsLeftAlone) {
  const std::string once = run(kProgram, diags).files.at(0).output;
  DiagEngine again;
  const RewriteResult r = run(once, again);
  EXPECT_EQ(r.status, RewriteStatus::Unchanged);
  EXPECT_EQ(r.files.at(0).output, once);
  EXPECT_EQ(again.count(DiagID::AlreadyDistributed), 1u);
}

TEST_F(Driver, NothingToDo) {
  const RewriteResult without = run("int main() {}\n", diags);
  EXPECT_EQ(without.status, RewriteStatus::Unchanged);
  EXPECT_EQ(diags.count(DiagID::NotThisDialect), 1u);
  DiagEngine second;
  const RewriteResult idle = run("#include <toy/toy.h>\nint main() {}\n", second);
  EXPECT_EQ(idle.files.at(0).output, "#include <toy/toy.h>\nint main() {}\n");
  EXPECT_EQ(second.count(DiagID::NoTrainer), 1u);
}

TEST_F(Driver, ErrorsInTheInput) {
  const RewriteResult r = run("#include <toy/toy.h>\nint main() { x; }\n", diags);
  EXPECT_EQ(r.status, RewriteStatus::DoesNotCompile);
  EXPECT_NE(r.compilerOutput.find("in.cpp:2:14: error: use of undeclared identifier 'x'"), std::string::npos) << r.compilerOutput;
  EXPECT_TRUE(r.files.empty());
}

TEST_F(Driver, RefusalsOfPassesWriteNothing) {
  stages.passes = [&](PassContext& c) {
    insertReduce(c, "toy::reduce();");
    c.diags.report(DiagID::UnresolvedOptimizer, clang::SourceRange(), "why");
  };
  const RewriteResult r = run(kProgram, diags);
  EXPECT_EQ(r.status, RewriteStatus::Refused);
  EXPECT_TRUE(r.files.empty());
}

TEST_F(Driver, RefusalsOfTheVerifierWriteNothing) {
  stages.verify = [&](clang::ASTContext& ast, const Dialect&, DiagEngine& d, const std::string&) {
    for (clang::Decl* decl : ast.getTraversalScope()) d.report(DiagID::CollectiveNotUniform, decl->getSourceRange(), "a", "b");
  };
  const RewriteResult r = run(kProgram, diags);
  EXPECT_EQ(r.status, RewriteStatus::Refused);
  EXPECT_TRUE(r.files.empty());
  ASSERT_EQ(diags.count(DiagID::CollectiveNotUniform), 2u);
  const Diagnostic inMain = diags.sorted().front();
  EXPECT_EQ(inMain.place.file, "in.cpp");
  EXPECT_EQ(inMain.place.line, 3u) << "main is at line 3 of the author's text";
}

TEST_F(Driver, AnOutputThatDoesNotCompileIsAnInternalError) {
  stages.passes = [&](PassContext& c) { insertReduce(c, "toy::nonsense();"); };
  const RewriteResult r = run(kProgram, diags);
  EXPECT_EQ(r.status, RewriteStatus::Refused);
  ASSERT_EQ(diags.count(DiagID::RewriteDoesNotCompile), 1u);
  EXPECT_EQ(diags.sorted()[0].place.line, 5u);
  EXPECT_NE(diags.sorted()[0].message.find("nonsense"), std::string::npos);
  EXPECT_TRUE(r.files.empty());
}

TEST_F(Driver, StrictTurnsAssumptionsIntoRefusals) {
  stages.passes = [&](PassContext& c) {
    insertReduce(c, "toy::reduce();");
    c.diags.reportFile(DiagID::AssumeIndependent, "in.cpp", "Net");
  };
  EXPECT_EQ(run(kProgram, diags).status, RewriteStatus::Written);
  DiagEngine strict(true);
  EXPECT_EQ(run(kProgram, strict).status, RewriteStatus::Refused);
  DiagEngine confirmed(true, {"independent"});
  EXPECT_EQ(run(kProgram, confirmed).status, RewriteStatus::Written);
}

}  // namespace
}  // namespace driver_test
}  // namespace hvdize::test
