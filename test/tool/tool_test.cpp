// SPDX-License-Identifier: Apache-2.0
#include "tool_test.h"

namespace hvdize::test {
namespace {

template <typename Node>
struct Collector : clang::RecursiveASTVisitor<Collector<Node>> {
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitCallExpr(clang::CallExpr* c) {
    if constexpr (std::is_same_v<Node, clang::CallExpr>) found.push_back(c);
    return true;
  }
  bool VisitFunctionDecl(clang::FunctionDecl* f) {
    if constexpr (std::is_same_v<Node, clang::FunctionDecl>) found.push_back(f);
    return true;
  }
  std::vector<const Node*> found;
};

}  // namespace

std::unique_ptr<clang::ASTUnit> parse(const std::string& code) {
  // Static: the unit reads its header's text from here for as long as it lives.
  static const clang::tooling::FileContentMappings headers = {
      {"given.h", "void here(); void there(); int value(int = 0); bool flag(); void hvd_before(); void hvd_after();\n"
                  "#define APPLY(x) x\n#define BODY here()\n#define STATEMENT here();\n"}};
  const std::vector<std::string> args = {"-std=c++20", "-w", "-include", "given.h", "-resource-dir", HVDIZE_TEST_RESOURCE_DIR};
  return clang::tooling::buildASTFromCodeWithArgs(code, args, "in.cpp", "clang-tool", std::make_shared<clang::PCHContainerOperations>(),
                                                  clang::tooling::getClangStripDependencyFileAdjuster(), headers);
}

Parsed::Parsed(const std::string& code, const IncludeList& includes) : code_(code), unit_(parse(code)), includes_(includes) {
  for (Include& i : includes_.direct) i.file = ast().getSourceManager().getMainFileID();
  diags.setSource(ast().getSourceManager(), ast().getLangOpts());
  EXPECT_FALSE(ast().getDiagnostics().hasErrorOccurred()) << code;
  std::vector<clang::Decl*> own(unit_->top_level_begin(), unit_->top_level_end());
  ast().setTraversalScope(own);
  edits = std::make_unique<EditSet>(
      ast(), includes_, [this](clang::SourceLocation at) { return ast().getSourceManager().isInMainFile(at); }, diags);
}

std::vector<const clang::CallExpr*> Parsed::calls(const std::string& function) const {
  Collector<clang::CallExpr> collector;
  collector.TraverseAST(ast());
  std::vector<const clang::CallExpr*> out;
  for (const clang::CallExpr* c : collector.found)
    if (c->getDirectCallee() && c->getDirectCallee()->getNameAsString() == function) out.push_back(c);
  return out;
}

const clang::CallExpr* Parsed::call(const std::string& function) const {
  const auto found = calls(function);
  EXPECT_FALSE(found.empty()) << "no call of " << function << " in " << code_;
  return found.empty() ? nullptr : found.front();
}

const clang::FunctionDecl* Parsed::function(const std::string& name) const {
  Collector<clang::FunctionDecl> collector;
  collector.TraverseAST(ast());
  for (const clang::FunctionDecl* f : collector.found)
    if (f->getNameAsString() == name && f->hasBody()) return f;
  ADD_FAILURE() << "no function " << name;
  return nullptr;
}

std::string Parsed::text() const {
  const std::string out = applyEdits(code_, edits->edits());
  auto again = parse(out);
  EXPECT_FALSE(again->getDiagnostics().hasErrorOccurred()) << "does not compile:\n" << out;
  return out;
}

std::vector<std::string> Parsed::ids() const {
  std::vector<std::string> out;
  for (const Diagnostic& d : diags.sorted()) out.push_back(idString(d.id));
  return out;
}

}  // namespace hvdize::test
