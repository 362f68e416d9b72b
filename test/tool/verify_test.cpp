// SPDX-License-Identifier: Apache-2.0
// The verifier on programs as hvdize might have written them, against the runtime's own headers.
#include "rewriters/verify/verify.h"

#include <llvm/Support/FileSystem.h>

#include <algorithm>
#include <cstring>

#include "rewriters/dialects/dialect.h"
#include "tool_test.h"

namespace hvdize::test {
namespace verify_test {
namespace {

const char* const kHead = R"(#include <hvd/hvd.hpp>
#include <hvd/distributed.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>
using Loader = hvd::data::DataLoader;
using Optimizer = hvd::optim::Optimizer;
double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
)";

/// The diagnostics of a program that begins with kHead, printed one per line: "3014:line: message", line 1 being that behind kHead.
std::vector<std::string> verify(const std::string& body) {
  const std::string code = kHead + body;
  const std::string include = std::string(HVDIZE_SOURCE_DIR) + "/runtime/include";
  auto unit = clang::tooling::buildASTFromCodeWithArgs(
      code, {"-std=c++20", "-w", "-fsyntax-only", "-I" + include, "-resource-dir", HVDIZE_TEST_RESOURCE_DIR}, "in.cpp");
  if (!unit || unit->getDiagnostics().hasErrorOccurred()) return {"does not compile"};
  llvm::SmallString<256> folder;
  if (llvm::sys::fs::real_path(include + "/hvd", folder)) return {"no headers"};
  std::string error;
  const auto dialect = Dialect::load("core", &error);
  if (!dialect) return {error};
  DiagEngine diags;
  diags.setSource(unit->getSourceManager(), unit->getLangOpts());
  verifyRewritten(unit->getASTContext(), *dialect, diags, (folder + "/").str());
  const unsigned offset = static_cast<unsigned>(std::count(kHead, kHead + std::strlen(kHead), '\n'));
  std::vector<std::string> out;
  for (const Diagnostic& d : diags.sorted())
    out.push_back(std::to_string(static_cast<unsigned>(d.id)) + ":" + std::to_string(d.place.line - offset) + ": " + d.message);
  return out;
}

using Lines = std::vector<std::string>;

/// One refusal at the line, whose text holds `part`.
testing::AssertionResult refusesAt(const Lines& lines, unsigned line, const std::string& part) {
  const std::string start = "3014:" + std::to_string(line) + ": ";
  if (lines.size() == 1 && lines[0].rfind(start, 0) == 0 && lines[0].find(part) != std::string::npos) return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure() << lines.size() << " refusals";
  for (const std::string& l : lines) failure << "\n" << l;
  return failure;
}

std::string step(const std::string& inside, const std::string& front = "", const std::string& behind = "") {
  return front + "void train(hvd::nn::Sequential& net, Loader& loader, Optimizer& opt) {\n  const double start = seconds();\n  int n = 0;\n"
                 "  for (auto& batch : hvd::steps(loader)) {\n    auto loss = hvd::nn::functional::cross_entropy(net(batch.data), batch.target);\n"
                 "    const float l = loss.item<float>();\n    " +
         inside +
         "\n    hvd::weighted(loss, hvd::LossKind::mean).backward();\n    hvd::reduce_gradients(opt);\n    opt.step();\n    ++n;\n  }\n" + behind +
         "}\n";
}

TEST(Verify, AcceptsTheUsualProgram) {
  EXPECT_EQ(verify(step("const float m = hvd::batch_mean(l);\n    if (n % 100 == 0 && hvd::is_root()) std::printf(\"%f\\n\", m);"
                        "\n    if (std::isnan(l)) throw std::runtime_error(\"diverged\");\n    if (m < 0.01f) break;",
                        "",
                        "  if (hvd::is_root()) hvd::save(net, \"net.safetensors\");\n  hvd::sync_buffers(net);\n")),
            Lines{});
}

TEST(Verify, CollectiveOnTheRootOnly) {
  EXPECT_TRUE(refusesAt(verify("void f(float x) {\n  if (hvd::is_root()) x = hvd::batch_mean(x);\n}\n"), 2, "'hvd::batch_mean'"));
  EXPECT_TRUE(refusesAt(verify("void f(float x) {\n  if (hvd::is_root()) std::printf(\"a\");\n  else x = hvd::batch_sum(x);\n}\n"), 3, "is_root"));
  EXPECT_EQ(verify("void f(float x) {\n  x = hvd::batch_mean(x);\n  if (hvd::is_root()) std::printf(\"%f\", x);\n}\n"), Lines{});
}

TEST(Verify, ThroughAFunction) {
  const char* const helper = "float mean(float x) { return hvd::batch_mean(x); }\n";
  EXPECT_TRUE(refusesAt(verify(std::string(helper) + "void f() {\n  if (hvd::rank() == 1) mean(1);\n}\n"), 1, "batch_mean"));
  EXPECT_TRUE(refusesAt(verify(std::string(helper) + "void f() {\n  std::function<float(float)> g = mean;\n  if (hvd::rank() == 1) g(1);\n}\n"), 1,
                        "batch_mean"));
  EXPECT_TRUE(refusesAt(verify("void f(std::vector<float>& v) {\n  auto g = [&](float x) { v.push_back(hvd::batch_mean(x)); };\n"
                               "  if (hvd::is_root()) g(1);\n}\n"),
                        2, "batch_mean"));
  EXPECT_EQ(verify(std::string(helper) + "void f() {\n  const float m = mean(1);\n  if (hvd::is_root()) std::printf(\"%f\", m);\n}\n"), Lines{});
}

TEST(Verify, LoopExitsOnWhatThisRankSees) {
  const Lines early = verify(step("if (l < 0.01f) break;"));
  ASSERT_EQ(early.size(), 2u);
  EXPECT_NE(early[0].find("'l'"), std::string::npos) << early[0];
  EXPECT_EQ(verify(step("if (hvd::agree(l < 0.01f)) break;")), Lines{});
  EXPECT_EQ(verify(step("if (hvd::batch_mean(l) < 0.01f) break;")), Lines{});
  EXPECT_EQ(verify(step("if (l > 100) continue;")).size(), 2u);
  EXPECT_EQ(verify(step("if (l > 100) return;")).size(), 2u);
  EXPECT_EQ(verify(step("for (int i = 0; i < 3; ++i) if (l > i) break;")), Lines{});
  EXPECT_EQ(verify(step("", "", "  for (int i = 0; i < 3; ++i) if (seconds() > i) break;\n")), Lines{});
}

TEST(Verify, Clocks) {
  EXPECT_EQ(verify(step("if (seconds() - start > 60) break;")).size(), 2u);
  EXPECT_EQ(verify(step("if (hvd::agree(seconds() - start > 60)) break;")), Lines{});
  EXPECT_EQ(verify(step("std::printf(\"%f\", seconds() - start);")), Lines{});
}

TEST(Verify, ContinueLeavesOutWhatFollows) {
  EXPECT_TRUE(refusesAt(verify("void f(float x) {\n  for (int i = 0; i < 3; ++i) {\n    if (hvd::is_root()) continue;\n    hvd::batch_mean(x);\n  }\n}\n"), 4, ""));
  EXPECT_EQ(verify("void f(float x) {\n  for (int i = 0; i < 3; ++i) {\n    hvd::batch_mean(x);\n    if (hvd::is_root()) continue;\n    std::printf(\"a\");\n  }\n}\n"),
            Lines{});
}

TEST(Verify, Expressions) {
  EXPECT_TRUE(refusesAt(verify("float f(float x) {\n  return hvd::is_root() ? hvd::batch_mean(x) : x;\n}\n"), 2, ""));
  EXPECT_TRUE(refusesAt(verify("bool f(bool x) {\n  return hvd::rank() > 0 && hvd::agree(x);\n}\n"), 2, "hvd::agree"));
  EXPECT_TRUE(refusesAt(verify("bool f(bool x) {\n  return hvd::rank() > 0 || hvd::agree(x);\n}\n"), 2, "hvd::agree"));
  EXPECT_EQ(verify("bool f(bool x) {\n  return hvd::agree(x) && hvd::is_root();\n}\n"), Lines{});
  EXPECT_EQ(verify("float f(float x) {\n  return hvd::size() > 1 ? hvd::batch_mean(x) : x;\n}\n"), Lines{});
}

TEST(Verify, Handlers) {
  EXPECT_TRUE(refusesAt(verify("void f(float x) {\n  try {\n    x = std::stof(\"1\");\n  } catch (...) {\n    hvd::batch_mean(x);\n  }\n}\n"), 5, "caught"));
  EXPECT_EQ(verify("void f(float x) {\n  try {\n    x = std::stof(\"1\");\n  } catch (...) {\n    hvd::batch_mean(x);\n    throw;\n  }\n}\n"), Lines{});
  EXPECT_TRUE(refusesAt(verify("void f(float x) {\n  try {\n    if (hvd::is_root()) throw 1;\n    hvd::batch_mean(x);\n  } catch (int) {\n  }\n}\n"), 4, ""));
}

TEST(Verify, FunctionsOfTheRoot) {
  EXPECT_TRUE(refusesAt(verify("float f(float x) {\n  return hvd::from_root([&] { return hvd::batch_mean(x); });\n}\n"), 2, "root only"));
  EXPECT_EQ(verify("float f() {\n  const double t = hvd::from_root([] { return seconds(); });\n  return t > 1 ? hvd::batch_mean(1.0f) : 0;\n}\n"), Lines{});
}

TEST(Verify, StatesThatDiffer) {
  // Set on one rank only.
  EXPECT_TRUE(refusesAt(verify("void f(float x) {\n  bool stop = false;\n  if (hvd::is_root()) stop = true;\n  if (stop) hvd::batch_mean(x);\n}\n"), 4, "stop"));
  // Counted another number of times.
  EXPECT_TRUE(refusesAt(verify("void f(float x) {\n  int n = 0;\n  while (seconds() < 5) ++n;\n  for (int i = 0; i < n; ++i) hvd::batch_mean(x);\n}\n"), 4, "n"));
  // Through a reference, a field, and what a function returns.
  EXPECT_TRUE(refusesAt(verify("void now(double& t) { t = seconds(); }\nvoid f(float x) {\n  double t = 0;\n  now(t);\n  if (t > 5) hvd::batch_mean(x);\n}\n"), 5, "t"));
  EXPECT_TRUE(refusesAt(verify("struct Timer { double start = seconds(); bool over() { return seconds() > start + 1; } };\n"
                               "void f(float x) {\n  Timer t;\n  if (t.over()) hvd::batch_mean(x);\n}\n"),
                        4, "t.over()"));
  EXPECT_TRUE(refusesAt(verify("bool late() {\n  if (seconds() > 5) return true;\n  return false;\n}\nvoid f(float x) {\n  if (late()) hvd::batch_mean(x);\n}\n"), 6, "late()"));
}

TEST(Verify, SumsInPlace) {
  const std::string front = "void f(Loader& loader, float x) {\n  double sum = 0;\n  for (auto& b : hvd::steps(loader)) sum += b.data.sum().item<float>();\n";
  EXPECT_TRUE(refusesAt(verify(front + "  if (sum > 1) hvd::batch_mean(x);\n}\n"), 4, "sum"));
  EXPECT_EQ(verify(front + "  hvd::all_reduce_sum(sum);\n  if (sum > 1) hvd::batch_mean(x);\n}\n"), Lines{});
}

TEST(Verify, AsManyItemsOnEveryRank) {
  const std::string front = "void f(Loader& loader) {\n  std::vector<float> v;\n  for (auto& b : hvd::steps(loader)) v.push_back(b.data.sum().item<float>());\n";
  EXPECT_EQ(verify(front + "  for (float x : v) hvd::batch_mean(x);\n}\n"), Lines{});
  EXPECT_TRUE(refusesAt(verify(front + "  if (v[0] > 1) hvd::batch_mean(1.0f);\n}\n"), 4, "v"));
}

TEST(Verify, Jumps) {
  EXPECT_TRUE(refusesAt(verify("void f(float x) {\nagain:\n  x = hvd::batch_mean(x);\n  if (x > 1) goto again;\n}\n"), 3, "goto"));
  EXPECT_EQ(verify("void f(float x) {\nagain:\n  if (++x < 10) goto again;\n}\n"), Lines{});
}

}  // namespace
}  // namespace verify_test
}  // namespace hvdize::test
