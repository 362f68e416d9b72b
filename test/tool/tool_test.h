// SPDX-License-Identifier: Apache-2.0
// Parses a piece of code, lets a test make edits, and gives the new text.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/ASTUnit.h>
#include <clang/Tooling/Tooling.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rewriters/diagnostics/diagnostics.h"
#include "rewriters/source/edit.h"

namespace hvdize::test {

/// `code` parsed as "in.cpp", with `void here(); void there(); int value(int = 0); bool flag();` declared in front by a header.
class Parsed {
 public:
  explicit Parsed(const std::string& code, const IncludeList& includes = {});

  /// All calls of a function, in the order of the text; instantiations included.
  std::vector<const clang::CallExpr*> calls(const std::string& function) const;
  /// The first one.
  const clang::CallExpr* call(const std::string& function = "here") const;
  const clang::FunctionDecl* function(const std::string& name) const;
  /// The new text. Fails the test when it does not compile.
  std::string text() const;
  std::vector<std::string> ids() const;

  clang::ASTContext& ast() const { return unit_->getASTContext(); }

 private:
  std::string code_;
  std::unique_ptr<clang::ASTUnit> unit_;
  IncludeList includes_;

 public:
  DiagEngine diags;
  std::unique_ptr<EditSet> edits;
};

std::unique_ptr<clang::ASTUnit> parse(const std::string& code);
inline Why why(const char* text = "test") { return {DiagID::GradientsReduced, text}; }

}  // namespace hvdize::test
