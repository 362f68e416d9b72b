// SPDX-License-Identifier: Apache-2.0
#include "tool_test.h"

namespace hvdize::test {
namespace statements_test {
namespace {

std::string before(const std::string& code, const std::string& insert = "hvd_before();") {
  Parsed p(code);
  EXPECT_TRUE(p.edits->insertBefore(p.call(), insert, why()));
  return p.text();
}

std::string after(const std::string& code, const std::string& insert = "hvd_after();") {
  Parsed p(code);
  EXPECT_TRUE(p.edits->insertAfter(p.call(), insert, why()));
  return p.text();
}

TEST(InsertStatement, OnItsOwnLineWithTheNeighboursIndentation) {
  EXPECT_EQ(before("void f() {\n    here();\n}\n"), "void f() {\n    hvd_before();\n    here();\n}\n");
  EXPECT_EQ(after("void f() {\n\there();\n}\n"), "void f() {\n\there();\n\thvd_after();\n}\n");
}

TEST(InsertStatement, SeveralLines) {
  EXPECT_EQ(before("void f() {\n  here();\n}\n", "{\n  hvd_before();\n}"), "void f() {\n  {\n    hvd_before();\n  }\n  here();\n}\n");
}

TEST(InsertStatement, KeepsLineEndingsOfTheFile) {
  EXPECT_EQ(before("void f() {\r\n  here();\r\n}\r\n"), "void f() {\r\n  hvd_before();\r\n  here();\r\n}\r\n");
  EXPECT_EQ(after("void f() {\r\n  here();  // x\r\n}\r\n"), "void f() {\r\n  here();  // x\r\n  hvd_after();\r\n}\r\n");
}

TEST(InsertStatement, FileWithoutFinalNewlineAndWithByteOrderMark) {
  EXPECT_EQ(after("\xEF\xBB\xBFvoid f() { here(); }"), "\xEF\xBB\xBFvoid f() { here(); hvd_after(); }");
  EXPECT_EQ(before("\xEF\xBB\xBFvoid f() {\n  here(); }"), "\xEF\xBB\xBFvoid f() {\n  hvd_before();\n  here(); }");
}

TEST(InsertStatement, BesideStatementsOnTheSameLine) {
  EXPECT_EQ(before("void f() { there(); here(); there(); }\n"), "void f() { there(); hvd_before(); here(); there(); }\n");
  EXPECT_EQ(after("void f() { there(); here(); there(); }\n"), "void f() { there(); here(); hvd_after(); there(); }\n");
  EXPECT_EQ(after("void f() {\n  there(); here();\n}\n"), "void f() {\n  there(); here();\n  hvd_after();\n}\n");
  EXPECT_EQ(before("void f() {\n  there(); here();\n}\n", "hvd_before();  // why"), "void f() {\n  there(); hvd_before();  // why\n  here();\n}\n");
}

TEST(InsertStatement, TrailingCommentsStayWithTheirStatement) {
  EXPECT_EQ(after("void f() {\n  here();  // first\n  there();\n}\n"), "void f() {\n  here();  // first\n  hvd_after();\n  there();\n}\n");
  EXPECT_EQ(after("void f() {\n  here(); /* a */ // b\n}\n"), "void f() {\n  here(); /* a */ // b\n  hvd_after();\n}\n");
  EXPECT_EQ(after("void f() {\n  here(); /* a\n  b */ there();\n}\n"), "void f() {\n  here(); hvd_after(); /* a\n  b */ there();\n}\n");
}

TEST(InsertStatement, UnbracedBodiesGetBraces) {
  EXPECT_EQ(before("void f() {\n  if (flag()) here();\n}\n"), "void f() {\n  if (flag()) {\n    hvd_before();\n    here();\n  }\n}\n");
  EXPECT_EQ(after("void f() {\n  if (flag())\n    here();\n  there();\n}\n"),
            "void f() {\n  if (flag()) {\n    here();\n    hvd_after();\n  }\n  there();\n}\n");
  EXPECT_EQ(before("void f() {\n  if (flag())  // now\n    here();  // then\n}\n"),
            "void f() {\n  if (flag()) {  // now\n    hvd_before();\n    here();  // then\n  }\n}\n");
  EXPECT_EQ(before("void f() {\n  if (flag()) here(); else there();\n}\n"),
            "void f() {\n  if (flag()) {\n    hvd_before();\n    here();\n  } else there();\n}\n");
  EXPECT_EQ(before("void f() {\n  if (flag())\n    there();\n  else\n    here();\n}\n"),
            "void f() {\n  if (flag())\n    there();\n  else {\n    hvd_before();\n    here();\n  }\n}\n");
  EXPECT_EQ(before("void f() {\n  do here(); while (flag());\n}\n"), "void f() {\n  do {\n    hvd_before();\n    here();\n  } while (flag());\n}\n");
}

TEST(InsertStatement, NestedUnbracedBodies) {
  Parsed p("void f() {\n  for (int i = 0; i < 3; ++i)\n    if (flag())\n      here();  // x\n}\n");
  EXPECT_TRUE(p.edits->insertAfter(p.call(), "hvd_after();", why()));
  EXPECT_TRUE(p.edits->insertBefore(p.call("flag"), "hvd_before();", why()));
  EXPECT_EQ(p.text(),
            "void f() {\n  for (int i = 0; i < 3; ++i) {\n    hvd_before();\n    if (flag()) {\n      here();  // x\n      hvd_after();\n"
            "    }\n  }\n}\n");
}

TEST(InsertStatement, BeforeAndAfterOneUnbracedStatement) {
  Parsed p("void f() {\n  while (flag()) here();\n}\n");
  EXPECT_TRUE(p.edits->insertAfter(p.call(), "hvd_after();", why()));
  EXPECT_TRUE(p.edits->insertBefore(p.call(), "hvd_before();", why()));
  EXPECT_EQ(p.text(), "void f() {\n  while (flag()) {\n    hvd_before();\n    here();\n    hvd_after();\n  }\n}\n");
}

TEST(InsertStatement, ElseIfChain) {
  EXPECT_EQ(before("void f() {\n  if (flag()) {\n  } else if (value()) {\n    here();\n  }\n}\n"),
            "void f() {\n  if (flag()) {\n  } else if (value()) {\n    hvd_before();\n    here();\n  }\n}\n");
  Parsed p("void f() {\n  if (flag()) {\n  } else if (value()) {\n    there();\n  }\n}\n");
  EXPECT_TRUE(p.edits->insertBefore(p.call("value"), "hvd_before();", why()));
  EXPECT_EQ(p.text(), "void f() {\n  if (flag()) {\n  } else {\n    hvd_before();\n    if (value()) {\n    there();\n  }\n  }\n}\n");
}

TEST(InsertStatement, BehindLabels) {
  EXPECT_EQ(before("void f() {\n  switch (value()) {\n    case 1: here(); break;\n  }\n}\n"),
            "void f() {\n  switch (value()) {\n    case 1: hvd_before(); here(); break;\n  }\n}\n");
}

TEST(InsertStatement, ExpressionsDeepInAStatement) {
  Parsed p("void f() {\n  int a = 1 + value(2);\n  auto g = [&] {\n    here();\n  };\n}\n");
  EXPECT_TRUE(p.edits->insertBefore(p.call("value"), "hvd_before();", why()));
  EXPECT_TRUE(p.edits->insertAfter(p.call(), "hvd_after();", why()));
  EXPECT_EQ(p.text(), "void f() {\n  hvd_before();\n  int a = 1 + value(2);\n  auto g = [&] {\n    here();\n    hvd_after();\n  };\n}\n");
}

TEST(InsertStatement, AfterStatementsThatEndInOthers) {
  Parsed p("void f() {\n  for (; value();)\n    if (flag()) there();\n  if (value()) { there(); }\n}\n");
  const clang::Stmt* outer = p.edits->enclosingStatement(p.calls("there")[0]);
  ASSERT_NE(outer, nullptr);
  auto body = llvm::cast<clang::CompoundStmt>(p.function("f")->getBody());
  EXPECT_TRUE(p.edits->insertAfter(body->body_front(), "hvd_after();", why()));
  EXPECT_TRUE(p.edits->insertAfter(body->body_back(), "hvd_after();", why()));
  EXPECT_EQ(p.text(),
            "void f() {\n  for (; value();)\n    if (flag()) there();\n  hvd_after();\n  if (value()) { there(); }\n  hvd_after();\n}\n");
}

TEST(InsertStatement, AroundRangeLoops) {
  Parsed p("struct R { int* begin(); int* end(); }; R r(int);\nvoid f() {\n  for (int x : r(value())) here();\n}\n");
  EXPECT_TRUE(p.edits->insertBefore(p.call("value"), "hvd_before();", why()));
  EXPECT_TRUE(p.edits->insertAfter(p.call(), "hvd_after();", why()));
  EXPECT_TRUE(p.edits->wrap(p.call("r"), "(", ")", why()));
  EXPECT_EQ(p.text(),
            "struct R { int* begin(); int* end(); }; R r(int);\nvoid f() {\n  hvd_before();\n  for (int x : (r(value()))) {\n    here();\n"
            "    hvd_after();\n  }\n}\n");
}

TEST(InsertStatement, RefusedWhereNoStatementCanStand) {
  for (const char* code : {"void f() {\n  while (value()) there();\n}\n", "void f() {\n  for (int i = 0; i < value(); ++i) there();\n}\n",
                           "void f() {\n  do there(); while (value());\n}\n", "void g(int a = value()) {}\n",
                           "struct S {\n  int a = value();\n};\n", "struct S {\n  int a;\n  S() : a(value()) {}\n};\n", "int x = value();\n"}) {
    Parsed p(code);
    EXPECT_FALSE(p.edits->insertBefore(p.call("value"), "hvd_before();", why())) << code;
    EXPECT_EQ(p.ids(), std::vector<std::string>{"HVD3003"}) << code;
    EXPECT_TRUE(p.edits->empty());
  }
}

TEST(InsertStatement, OnceForAllInstantiations) {
  Parsed p("template <typename T>\nvoid f(T t) {\n  t();\n  here();\n}\nvoid g() {\n  f(flag);\n  f(there);\n}\n");
  const auto calls = p.calls("here");
  ASSERT_GE(calls.size(), 3u);
  for (const auto* c : calls) EXPECT_TRUE(p.edits->insertBefore(c, "hvd_before();", why()));
  EXPECT_EQ(p.edits->edits().size(), 1u);
  EXPECT_EQ(p.text(), "template <typename T>\nvoid f(T t) {\n  t();\n  hvd_before();\n  here();\n}\nvoid g() {\n  f(flag);\n  f(there);\n}\n");
}

TEST(InsertStatement, InBlocks) {
  Parsed p("void f() {  // start\n    there();\n}\nvoid g() {}\nvoid h() { there(); }\n");
  for (const char* name : {"f", "g", "h"}) {
    EXPECT_TRUE(p.edits->insertAtStart(p.function(name)->getBody(), "hvd_before();", why()));
    EXPECT_TRUE(p.edits->insertAtEnd(p.function(name)->getBody(), "hvd_after();", why()));
  }
  EXPECT_EQ(p.text(),
            "void f() {  // start\n    hvd_before();\n    there();\n    hvd_after();\n}\nvoid g() { hvd_before(); hvd_after(); }\n"
            "void h() { hvd_before(); there(); hvd_after(); }\n");
}

TEST(InsertStatement, InMacros) {
  Parsed argument("void f() {\n  APPLY(here());\n}\n");
  EXPECT_TRUE(argument.edits->insertBefore(argument.call(), "hvd_before();", why()));
  EXPECT_EQ(argument.ids(), std::vector<std::string>{});
  Parsed whole("void f() {\n  BODY;\n}\n");
  EXPECT_TRUE(whole.edits->insertBefore(whole.call(), "hvd_before();", why()));
  EXPECT_EQ(whole.text(), "void f() {\n  hvd_before();\n  BODY;\n}\n");
  Parsed inside("#define STEP there(); here()\nvoid f() {\n  STEP;\n}\n");
  EXPECT_FALSE(inside.edits->insertBefore(inside.call(), "hvd_before();", why()));
  EXPECT_EQ(inside.ids(), std::vector<std::string>{"HVD3001"});
}

TEST(Guard, WholeStatement) {
  auto guarded = [](const std::string& code) {
    Parsed p(code);
    EXPECT_TRUE(p.edits->guard(p.call(), "if (flag()) ", why()));
    return p.text();
  };
  EXPECT_EQ(guarded("void f() {\n  here();  // x\n}\n"), "void f() {\n  if (flag()) here();  // x\n}\n");
  EXPECT_EQ(guarded("void f() {\n  for (;;)\n    here();\n}\n"), "void f() {\n  for (;;)\n    if (flag()) here();\n}\n");
  EXPECT_EQ(guarded("void f() {\n  if (value())\n    here();\n  else\n    there();\n}\n"),
            "void f() {\n  if (value()) {\n    if (flag()) here();\n  }\n  else\n    there();\n}\n");
  EXPECT_EQ(guarded("void f() {\n  if (value()) for (;;) here(); else there();\n}\n"),
            "void f() {\n  if (value()) for (;;) {\n    if (flag()) here();\n  } else there();\n}\n");
}

TEST(Guard, InsertionsBeforeItStayOutside) {
  Parsed p("void f() {\n  here();\n}\n");
  EXPECT_TRUE(p.edits->guard(p.call(), "if (flag()) ", why()));
  EXPECT_TRUE(p.edits->insertBefore(p.call(), "hvd_before();", why()));
  EXPECT_TRUE(p.edits->insertAfter(p.call(), "hvd_after();", why()));
  EXPECT_EQ(p.text(), "void f() {\n  hvd_before();\n  if (flag()) here();\n  hvd_after();\n}\n");
}

TEST(Guard, DeclarationsAreRefused) {
  Parsed p("void f() {\n  int x = value();\n}\n");
  EXPECT_FALSE(p.edits->guard(p.call("value"), "if (flag()) ", why()));
  EXPECT_EQ(p.ids(), std::vector<std::string>{"HVD3003"});
}

}  // namespace
}  // namespace statements_test
}  // namespace hvdize::test
