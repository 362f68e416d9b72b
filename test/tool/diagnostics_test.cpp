// SPDX-License-Identifier: Apache-2.0
#include "rewriters/diagnostics/diagnostics.h"

#include <set>

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>

#include "rewriters/diagnostics/print.h"
#include "tool_test.h"

namespace hvdize::test {
namespace diagnostics_test {
namespace {

std::string printed(const DiagEngine& diags) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printDiagnostics(os, diags.sorted(), {});
  return text;
}

TEST(Diagnostics, PrintedWithCaretsInTheOrderOfTheText) {
  Parsed p("void f() {\n\tvalue(1);\n  here();\n}\n");
  p.diags.report(DiagID::RootOutput, p.call()->getSourceRange());
  p.diags.report(DiagID::GradientsReduced, p.call("value")->getSourceRange(), "the step").note(p.call()->getBeginLoc(), "read here");
  EXPECT_EQ(printed(p.diags),
            "in.cpp:2:2: note: gradients are reduced here: before the step [HVD1020]\n"
            "    2 |         value(1);\n"
            "      |         ^~~~~~~~\n"
            "in.cpp:3:3:   read here\n"
            "    3 |   here();\n"
            "      |   ^~~~\n"
            "in.cpp:3:3: note: printed by one rank [HVD1050]\n"
            "    3 |   here();\n"
            "      |   ^~~~~~\n");
}

TEST(Diagnostics, TheSameOneOnce) {
  Parsed p("void f() { here(); }\n");
  for (int i = 0; i < 2; ++i) p.diags.report(DiagID::RootOutput, p.call()->getSourceRange());
  EXPECT_EQ(p.diags.count(DiagID::RootOutput), 1u);
  p.diags.report(DiagID::RootFile, p.call()->getSourceRange());
  EXPECT_EQ(p.diags.count(Severity::Note), 2u);
}

TEST(Diagnostics, AssumptionsAreWarningsRefusalsOrNotes) {
  auto severity = [](bool strict, std::vector<std::string> assume) {
    DiagEngine d(strict, assume);
    d.reportFile(DiagID::AssumeIndependent, "a.cpp", "Net");
    return d.sorted()[0].severity;
  };
  EXPECT_EQ(severity(false, {}), Severity::Warning);
  EXPECT_EQ(severity(true, {}), Severity::Refusal);
  EXPECT_EQ(severity(true, {"independent"}), Severity::Note);
  EXPECT_EQ(severity(true, {"HVD2003"}), Severity::Note);
  EXPECT_EQ(severity(true, {"opaque"}), Severity::Refusal);
  DiagEngine strict(true);
  strict.reportFile(DiagID::LiteralStepCount, "a.cpp", 1000);
  EXPECT_FALSE(strict.hasRefusals()) << "a warning that is no assumption stays one";
  EXPECT_EQ(DiagEngine::unknownAssumptions({"independent", "HVD3001", "x"}), (std::vector<std::string>{"HVD3001", "x"}));
}

TEST(Diagnostics, TagsSayWhatTheAuthorCanDo) {
  DiagEngine strict(true);
  strict.reportFile(DiagID::AssumeIndependent, "a.cpp", "Net");
  EXPECT_EQ(printed(strict),
            "a.cpp: error: assuming that Net treats samples independently [HVD2003, --assume=independent, refused by --strict]\n");
}

TEST(Diagnostics, InRewrittenText) {
  const std::string before = "void f() {\n  here();\n  there();\n}\n";
  Parsed p(before);
  EXPECT_TRUE(p.edits->insertBefore(p.call(), "hvd_before();", why()));
  LineMaps maps;
  const std::string after = applyEdits(before, p.edits->edits(), &maps["in.cpp"]);
  Parsed q(after);
  q.diags.setSource(q.ast().getSourceManager(), q.ast().getLangOpts(), &maps);
  const DiagPlace kept = q.diags.resolve(q.call("there")->getSourceRange());
  EXPECT_EQ(kept.line, 3u);
  EXPECT_FALSE(kept.inRewritten);
  const DiagPlace inserted = q.diags.resolve(q.call("hvd_before")->getSourceRange());
  EXPECT_EQ(inserted.line, 2u);
  EXPECT_TRUE(inserted.inRewritten);
  EXPECT_EQ(inserted.lineText, "  hvd_before();");
}

TEST(Diagnostics, FoundByNumberNameAndWord) {
  EXPECT_EQ(findDiagnostic("HVD3001")->id, DiagID::EditInMacro);
  EXPECT_EQ(findDiagnostic("3001")->id, DiagID::EditInMacro);
  EXPECT_EQ(findDiagnostic("EditInMacro")->id, DiagID::EditInMacro);
  EXPECT_EQ(findDiagnostic("independent")->id, DiagID::AssumeIndependent);
  EXPECT_EQ(findDiagnostic("HVD9999"), nullptr);
  EXPECT_EQ(findDiagnostic(""), nullptr);
}

TEST(Diagnostics, EveryRowIsExplained) {
  for (const DiagInfo& row : allDiagnostics()) {
    EXPECT_GT(row.explanation.size(), 40u) << row.name;
    EXPECT_FALSE(row.message.empty()) << row.name;
    EXPECT_EQ(row.severity == Severity::Refusal && row.before.empty() != row.after.empty(), false) << row.name;
  }
}

// The runtime writes these messages itself: what it says must be explained, and what is explained must be said.
TEST(Diagnostics, WhatTheRuntimeSaysIsInTheTable) {
  std::set<std::string> said, explained;
  std::error_code ec;
  for (llvm::sys::fs::recursive_directory_iterator i(std::string(HVDIZE_SOURCE_DIR) + "/runtime", ec), end; i != end && !ec; i.increment(ec)) {
    auto buffer = llvm::MemoryBuffer::getFile(i->path());
    if (!buffer || !llvm::StringRef(i->path()).ends_with("pp")) continue;
    const llvm::StringRef text = (*buffer)->getBuffer();
    for (size_t at = 0; (at = text.find("HVD4", at)) != llvm::StringRef::npos; at += 4) said.insert(text.substr(at, 7).str());
  }
  for (const DiagInfo& row : allDiagnostics())
    if (row.severity == Severity::Running) explained.insert(idString(row.id));
  EXPECT_FALSE(said.empty());
  EXPECT_EQ(said, explained);
}

std::string contents(const std::string& path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "missing: " + path;
}

TEST(Diagnostics, PagesAreUpToDate) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("hvdize-pages", folder));
  std::string error;
  ASSERT_TRUE(writeDiagnosticPages(folder, &error)) << error;
  std::error_code ec;
  size_t pages = 0;
  for (llvm::sys::fs::directory_iterator i(folder, ec), end; i != end && !ec; i.increment(ec), ++pages) {
    const std::string name = i->path().substr(folder.size() + 1);
    EXPECT_EQ(contents(i->path()), contents(std::string(HVDIZE_SOURCE_DIR) + "/docs/diagnostics/" + name))
        << "run: hvdize --dump-diagnostics-docs docs/diagnostics";
  }
  EXPECT_EQ(pages, allDiagnostics().size() + 1);
  llvm::sys::fs::remove_directories(folder);
}

}  // namespace
}  // namespace diagnostics_test
}  // namespace hvdize::test
