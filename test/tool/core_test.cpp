// SPDX-License-Identifier: Apache-2.0
// The table of the core dialect against the headers of the training core.
#include <set>

#include "rewriters/dialects/dialect.h"
#include "tool_test.h"

namespace hvdize::test {
namespace core_test {
namespace {

/// The names that the core's headers declare, with the numbers of parameters of functions.
struct Names : clang::RecursiveASTVisitor<Names> {
  bool VisitNamedDecl(clang::NamedDecl* d) {
    if (const auto* f = d->getAsFunction()) numbered.insert({qualifiedName(f), static_cast<int>(f->getNumParams())});
    all.insert(qualifiedName(d));
    return true;
  }
  std::set<std::string> all;
  std::set<std::pair<std::string, int>> numbered;
};

TEST(CoreTable, NamesExist) {
  const std::string include = std::string(HVDIZE_SOURCE_DIR) + "/runtime/include";
  const auto unit = clang::tooling::buildASTFromCodeWithArgs(
      "#include <hvd/hvd.hpp>\n#include <hvd/autograd.hpp>\n", {"-std=c++20", "-w", "-I", include, "-resource-dir", HVDIZE_TEST_RESOURCE_DIR}, "in.cpp");
  ASSERT_NE(unit, nullptr);
  ASSERT_FALSE(unit->getDiagnostics().hasErrorOccurred());
  std::vector<clang::Decl*> own;
  for (clang::Decl* d : unit->getASTContext().getTranslationUnitDecl()->decls())
    if (auto* space = llvm::dyn_cast<clang::NamespaceDecl>(d); space && space->getName() == "hvd") own.push_back(d);
  unit->getASTContext().setTraversalScope(own);
  Names names;
  names.TraverseAST(unit->getASTContext());
  std::string error;
  const auto core = Dialect::load("core", &error);
  ASSERT_NE(core, nullptr) << error;
  for (const Entry* e : core->entries()) {
    EXPECT_TRUE(names.all.count(e->name)) << "core.yaml:" << e->line << ": the headers do not declare " << e->name;
    if (e->params >= 0) {
      EXPECT_TRUE(names.numbered.count({e->name, e->params})) << "core.yaml:" << e->line << ": no " << e->name << " takes " << e->params;
    }
  }
}

}  // namespace
}  // namespace core_test
}  // namespace hvdize::test
