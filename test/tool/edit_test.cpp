// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/format.h"
#include "rewriters/source/line_directives.h"
#include "tool_test.h"

namespace hvdize::test {
namespace edit_test {
namespace {

TEST(Wrap, NestedInAnyOrder) {
  const std::string code = "int f() { return value(value(1)); }\n";
  for (const bool innerFirst : {true, false}) {
    Parsed p(code);
    const auto calls = p.calls("value");
    ASSERT_EQ(calls.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const size_t which = innerFirst ? 1 - i : i;
      EXPECT_TRUE(p.edits->wrap(calls[which], which == 0 ? "(+" : "(-", ")", why()));
    }
    EXPECT_EQ(p.text(), "int f() { return (+value((-value(1)))); }\n");
  }
}

TEST(Wrap, SharedBeginningAndEnd) {
  Parsed p("int f() { return value(1) + value(2); }\n");
  const auto calls = p.calls("value");
  const auto* total = llvm::cast<clang::ReturnStmt>(p.edits->enclosingStatement(calls[0]))->getRetValue();
  EXPECT_TRUE(p.edits->wrap(calls[0], "(1 * ", ")", why()));
  EXPECT_TRUE(p.edits->wrap(total, "(2 * ", ")", why()));
  EXPECT_TRUE(p.edits->wrap(calls[1], "(3 * ", ")", why()));
  EXPECT_EQ(p.text(), "int f() { return (2 * (1 * value(1)) + (3 * value(2))); }\n");
}

TEST(Wrap, TwiceAroundOneRangeLaterIsOutside) {
  Parsed p("int f() { return value(1); }\n");
  EXPECT_TRUE(p.edits->wrap(p.call("value"), "(1 + ", ")", why()));
  EXPECT_TRUE(p.edits->wrap(p.call("value"), "(2 * ", ")", why()));
  EXPECT_TRUE(p.edits->wrap(p.call("value"), "(1 + ", ")", why()));
  EXPECT_EQ(p.edits->edits().size(), 2u);
  EXPECT_EQ(p.text(), "int f() { return (2 * (1 + value(1))); }\n");
}

TEST(Wrap, AroundReplacedTextAndBesideTokens) {
  Parsed p("int f() { return value(1); }\n");
  EXPECT_TRUE(p.edits->replace(p.call("value"), "value(7)", why()));
  EXPECT_TRUE(p.edits->wrap(p.call("value"), "(1 + ", ")", why()));
  EXPECT_TRUE(p.edits->insertBeforeToken(p.call("value")->getBeginLoc(), "-", why()));
  EXPECT_EQ(p.text(), "int f() { return (1 + -value(7)); }\n");
}

TEST(Wrap, SplitAngleBrackets) {
  Parsed p("template <typename T> struct A { T t; };\nvoid g(A<A<int>> a);\nvoid f() { g(A<A<int>>{}); }\n");
  const auto* call = p.call("g");
  EXPECT_TRUE(p.edits->wrap(call->getArg(0), "(", ")", why()));
  EXPECT_NE(p.text().find("g((A<A<int>>{}));"), std::string::npos);
}

TEST(Conflict, DifferentTextsForOnePlace) {
  Parsed p("int f() { return value(1); }\n");
  EXPECT_TRUE(p.edits->replace(p.call("value"), "value(7)", why("one")));
  EXPECT_FALSE(p.edits->replace(p.call("value"), "value(8)", why("two")));
  ASSERT_EQ(p.ids(), std::vector<std::string>{"HVD3004"});
  EXPECT_EQ(p.diags.sorted()[0].message, "two edits contradict each other here: one, and two");
  EXPECT_TRUE(p.edits->replace(p.call("value"), "value(7)", why("one")));
}

TEST(Conflict, EditsInsideReplacedText) {
  Parsed p("int f() { return value(value(1)); }\n");
  const auto calls = p.calls("value");
  EXPECT_TRUE(p.edits->replace(calls[0], "value(7)", why()));
  EXPECT_FALSE(p.edits->wrap(calls[1], "(", ")", why("inner")));
  EXPECT_FALSE(p.edits->insertBeforeToken(calls[1]->getBeginLoc(), "-", why("token")));
}

TEST(Conflict, CrossingRanges) {
  auto wrap = [](unsigned b, unsigned e) { return Edit{Edit::Kind::Wrap, {b, e}, "(", ")", {}, {}, {}}; };
  EXPECT_TRUE(inConflict(wrap(0, 5), wrap(3, 8)));
  EXPECT_FALSE(inConflict(wrap(0, 5), wrap(5, 8)));
  EXPECT_FALSE(inConflict(wrap(0, 8), wrap(3, 8)));
}

TEST(Gate, MacroBodiesAreRefusedArgumentsAreNot) {
  Parsed body("#define TWICE(x) ((x) + value(2))\nint f() { return TWICE(value(1)); }\n");
  const auto calls = body.calls("value");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_TRUE(body.edits->wrap(calls[0], "(-", ")", why()));
  EXPECT_EQ(body.text(), "#define TWICE(x) ((x) + value(2))\nint f() { return TWICE((-value(1))); }\n");
  EXPECT_FALSE(body.edits->wrap(calls[1], "(-", ")", why("needed")));
  ASSERT_EQ(body.ids(), std::vector<std::string>{"HVD3001"});
  const Diagnostic d = body.diags.sorted()[0];
  EXPECT_EQ(d.message, "cannot edit inside a macro: the text comes from the macro 'TWICE' (needed here: needed)");
  EXPECT_EQ(d.place.line, 2u);
  EXPECT_EQ(d.place.column, 18u);
}

TEST(Gate, OtherFilesAreRefused) {
  Parsed p("void f() { here(); }\n");
  const clang::FunctionDecl* declared = p.call()->getDirectCallee();
  EXPECT_FALSE(p.edits->replace(declared->getSourceRange(), "x", why()));
  ASSERT_EQ(p.ids(), std::vector<std::string>{"HVD3002"});
  std::string reason;
  EXPECT_FALSE(p.edits->canEdit(declared->getSourceRange(), &reason));
  EXPECT_NE(reason.find("given.h"), std::string::npos);
  EXPECT_TRUE(p.edits->canEdit(p.call()->getSourceRange()));
}

TEST(Gate, TextAsWritten) {
  Parsed p("#define N 3\nint f() { return value( N ); }\n");
  EXPECT_EQ(p.edits->text(p.call("value")), "value( N )");
  EXPECT_EQ(p.edits->text(p.call("value")->getArg(0)), "N");
}

IncludeList includesOf(const std::string& code, const std::vector<std::string>& names) {
  IncludeList list;
  for (const std::string& name : names) {
    const unsigned hash = static_cast<unsigned>(code.rfind("#include", code.find(name)));
    Include i;
    i.name = name;
    i.offset = hash;
    i.end = static_cast<unsigned>(code.find(name) + name.size() + 1);
    list.direct.push_back(i);
    list.all[name] = "";
  }
  return list;
}

TEST(Include, AfterItsNeighbourElseAfterTheLast) {
  const std::string code = "#include <cstddef>  // one\n#include <cstdint>\nvoid f() { here(); }\n";
  const auto begin = [](Parsed& parsed) { return parsed.edits->insertAtStart(parsed.function("f")->getBody(), "hvd_before();", why()); };
  Parsed untouched(code, includesOf(code, {"cstddef", "cstdint"}));
  EXPECT_TRUE(untouched.edits->addInclude("climits", "cstddef", why()));
  EXPECT_EQ(untouched.text(), code) << "a file without edits needs no include";
  Parsed p(code, includesOf(code, {"cstddef", "cstdint"}));
  EXPECT_TRUE(begin(p));
  EXPECT_TRUE(p.edits->addInclude("climits", "cstddef", why()));
  EXPECT_TRUE(p.edits->addInclude("cstdint", "cstddef", why()));
  EXPECT_EQ(p.text(), "#include <cstddef>  // one\n#include <climits>\n#include <cstdint>\nvoid f() { hvd_before(); here(); }\n");
  Parsed q(code, includesOf(code, {"cstddef", "cstdint"}));
  EXPECT_TRUE(begin(q));
  EXPECT_TRUE(q.edits->addInclude("climits", "other.h", why()));
  EXPECT_EQ(q.text(), "#include <cstddef>  // one\n#include <cstdint>\n#include <climits>\nvoid f() { hvd_before(); here(); }\n");
}

TEST(Include, AtTheStart) {
  const char* const starts[] = {"", "\xEF\xBB\xBF", "#pragma once\n", "// c\n#ifndef X_H\n#define X_H\n"};
  for (const std::string start : starts) {
    const std::string end = start.find("#ifndef") == std::string::npos ? "" : "#endif\n";
    Parsed p(start + "void f() { here(); }\n" + end);
    EXPECT_TRUE(p.edits->insertAtStart(p.function("f")->getBody(), "hvd_before();", why()));
    EXPECT_TRUE(p.edits->addInclude("climits", "other.h", why()));
    EXPECT_EQ(p.text(), start + "#include <climits>\nvoid f() { hvd_before(); here(); }\n" + end);
  }
}

TEST(LineDirectives, AByteOrderMarkStaysFirst) {
  const std::string text = "\xEF\xBB\xBF" "int a;\n";
  LineMap map(text, text);
  map.keep(0, 0, static_cast<unsigned>(text.size()));
  EXPECT_EQ(withLineDirectives(text, map, "a.cpp"), "\xEF\xBB\xBF#line 1 \"a.cpp\"\nint a;\n");
}

TEST(LineMap, WayBack) {
  const std::string before = "a\nb\nc\n";
  const Edit insert{Edit::Kind::Insert, {2, 2}, "x\ny\n", "", {}, {}, {}};
  const Edit replace{Edit::Kind::Replace, {4, 5}, "z", "", {}, {}, {}};
  LineMap map;
  ASSERT_EQ(applyEdits(before, {insert, replace}, &map), "a\nx\ny\nb\nz\n");
  const unsigned lines[] = {1, 2, 2, 2, 3};
  const bool unchanged[] = {true, false, false, true, false};
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_EQ(map.oldLine(i + 1).line, lines[i]) << i;
    EXPECT_EQ(map.oldLine(i + 1).unchanged, unchanged[i]) << i;
  }
}

TEST(Format, WithoutStyleFileNothingChanges) {
  LineMap map;
  const std::string text = applyEdits("int  a;\n", {}, &map);
  EXPECT_EQ(formatChangedLines(text, map, "/nonexistent-folder/in.cpp"), text);
}

TEST(Format, ChangedLinesOnly) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("hvdize-format", folder));
  {
    std::error_code ec;
    llvm::raw_fd_ostream style((folder + "/.clang-format").str(), ec);
    style << "BasedOnStyle: Google\n";
  }
  const std::string before = "int   a;\nint   b;\nint   c;\n";
  const Edit insert{Edit::Kind::Insert, {9, 9}, "int   x;\n", "", {}, {}, {}};
  LineMap map;
  const std::string text = applyEdits(before, {insert}, &map);
  EXPECT_EQ(formatChangedLines(text, map, (folder + "/in.cpp").str()), "int   a;\nint x;\nint   b;\nint   c;\n");
  llvm::sys::fs::remove_directories(folder);
}

}  // namespace
}  // namespace edit_test
}  // namespace hvdize::test
