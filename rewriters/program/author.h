// SPDX-License-Identifier: Apache-2.0
// Which code is the author's, and the functions in it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace hvdize {

class Callables;

/// Tells the author's files from those of the system and of the framework, by real path.
class AuthorFiles {
 public:
  /// `frameworkPrefix`: the folder that holds the framework's headers; empty when there is none.
  AuthorFiles(const clang::SourceManager& sm, std::string frameworkPrefix);
  bool contains(clang::SourceLocation loc) const;
  bool inMainFile(clang::SourceLocation loc) const;

 private:
  const clang::SourceManager& sm_;
  std::string prefix_;
  mutable llvm::DenseMap<clang::FileID, bool> known_;
};

/// A function of the author's that has a body and no dependent types: an ordinary function, a method, the call operator
/// of a lambda, or one instantiation of a template.
struct Function {
  const clang::FunctionDecl* decl = nullptr;
  const clang::Stmt* body = nullptr;
  /// The lambda expression whose call operator this is, or null.
  const clang::LambdaExpr* lambda = nullptr;
};

/// Code that is evaluated as a whole: the body of a function, an initialiser of a constructor, a default argument, the initialiser of a
/// variable of namespace scope or of a field in its class.
struct Root {
  const clang::Stmt* code = nullptr;
  const clang::FunctionDecl* in = nullptr;        ///< null for variables and fields
  const clang::ValueDecl* initialises = nullptr;  ///< the variable, field or parameter

  bool isGlobal() const { return llvm::isa_and_nonnull<clang::VarDecl>(initialises) && !in; }
};

/// A call of one author function from another place in the author's code.
struct CallSite {
  const clang::Expr* call = nullptr;
  const clang::FunctionDecl* caller = nullptr;  ///< null for initialisers of globals and fields
};

/// All functions of the author's with their bodies, parents of statements, and who calls whom.
class AuthorCode {
 public:
  AuthorCode(clang::ASTContext& context, const AuthorFiles& files);
  ~AuthorCode();
  AuthorCode(AuthorCode&&) = delete;

  const std::vector<Function>& functions() const { return functions_; }
  /// The functions that a call may run: the callee, its overriders, instantiations, what a called object holds; empty for opaque callees.
  llvm::SmallVector<const clang::FunctionDecl*, 2> targets(const clang::Expr* call) const;
  const Function* find(const clang::FunctionDecl* decl) const;
  /// Functions of the author's with this result that an object may hold of which is not seen what it holds.
  llvm::SmallVector<const clang::FunctionDecl*, 8> candidates(clang::QualType result) const;
  llvm::ArrayRef<CallSite> callers(const clang::FunctionDecl* decl) const;

  /// The statement around `s` in its function, or null at the body.
  const clang::Stmt* parent(const clang::Stmt* s) const { return parents_.lookup(s); }
  /// The function whose body holds `s` (lambda bodies belong to their call operator).
  const clang::FunctionDecl* functionOf(const clang::Stmt* s) const;
  /// Declared in the statement that holds this variable's initialiser.
  const clang::DeclStmt* declStmt(const clang::VarDecl* v) const { return declStmts_.lookup(v); }
  const clang::VarDecl* variableInitialisedBy(const clang::Stmt* s) const { return initOf_.lookup(s); }

  /// Variables of namespace scope and fields with an initialiser in the class.
  const std::vector<Root>& roots() const { return roots_; }
  const std::vector<const clang::ValueDecl*>& globals() const { return globals_; }
  const std::vector<const clang::FieldDecl*>& fields() const { return fields_; }
  /// Patterns of function templates, members of class templates and generic lambdas with a body that nothing instantiates, for some
  /// specialisation at least: they hold no facts.
  const std::vector<const clang::FunctionDecl*>& uninstantiated() const { return uninstantiated_; }
  /// Functions that nothing in the program calls or names: they hold no facts.
  const llvm::DenseSet<const clang::FunctionDecl*>& uncalled() const { return uncalled_; }
  const std::vector<const clang::CXXRecordDecl*>& records() const { return records_; }
  clang::ASTContext& context() const { return context_; }
  const AuthorFiles& files() const { return files_; }

 private:
  void addScope();
  void findUncalled();
  void addAll(const clang::TranslationUnitDecl* unit);
  void addDecl(const clang::Decl* d);
  void addRecord(const clang::CXXRecordDecl* r);
  void addFunction(const clang::FunctionDecl* f, const clang::LambdaExpr* lambda = nullptr);
  void addFunctionTemplate(const clang::FunctionTemplateDecl* t);
  void addUninstantiated(const clang::FunctionDecl* pattern);
  void addUninstantiatedMembers(const clang::CXXRecordDecl* r);
  void addRoot(const clang::Stmt* s, const clang::FunctionDecl* f, const clang::ValueDecl* initialises);
  void addBody(const clang::Stmt* s, const clang::Stmt* parent, const clang::FunctionDecl* f);
  void addLambda(const clang::LambdaExpr* l);
  void linkCalls();

  clang::ASTContext& context_;
  const AuthorFiles& files_;
  llvm::DenseSet<const clang::FunctionDecl*> uncalled_;  ///< canonical
  std::vector<Function> functions_;
  std::vector<const clang::ValueDecl*> globals_;
  std::vector<const clang::FieldDecl*> fields_;
  std::vector<Root> roots_;
  std::vector<const clang::FunctionDecl*> uninstantiated_;
  std::vector<const clang::CXXRecordDecl*> records_;
  llvm::DenseMap<const clang::FunctionDecl*, unsigned> index_;
  llvm::DenseMap<const clang::Stmt*, const clang::Stmt*> parents_;
  llvm::DenseMap<const clang::Stmt*, const clang::FunctionDecl*> owner_;
  llvm::DenseMap<const clang::VarDecl*, const clang::DeclStmt*> declStmts_;
  llvm::DenseMap<const clang::Stmt*, const clang::VarDecl*> initOf_;
  llvm::DenseMap<const clang::FunctionDecl*, std::vector<CallSite>> callers_;
  std::vector<CallSite> calls_;
  std::unique_ptr<Callables> callables_;
};

/// Is `s` the statement `around`, or a part of it?
bool isWithin(const AuthorCode& code, const clang::Stmt* s, const clang::Stmt* around);

/// Is the expression a statement of its own, its value unused?
bool isWholeStatement(const AuthorCode& code, const clang::Expr* e);

/// Strips what the source does not spell: parentheses, implicit casts and conversions, temporaries, copies.
const clang::Expr* strip(const clang::Expr* e);

/// The function an expression calls (function, method, operator, constructor), or null.
const clang::FunctionDecl* calleeOf(const clang::Expr* e);
/// The name of that function; empty for operators, constructors, and where nothing is called.
llvm::StringRef calleeName(const clang::Expr* e);
/// The object a method or overloaded operator is called on, or null. Sees through `->` of smart pointers and holders.
const clang::Expr* objectOf(const clang::Expr* e);
/// What is named for the object: through `->` and `*` of smart pointers, holders and pointers, and `&`.
const clang::Expr* pointed(const clang::Expr* object);
/// The local variable whose member, or member of a member, is named (`result.loss`): null where a pointer, a reference or another object comes between.
const clang::VarDecl* variableAround(const clang::Expr* member);
/// The arguments a call passes, without the object and without default arguments.
llvm::SmallVector<const clang::Expr*, 4> argumentsOf(const clang::Expr* e);
/// `std::visit(f, variant)`: a call of `f` with what the variant holds; its arguments are the variants.
bool isVisit(const clang::Expr* e);
/// The variables that an assignment to `std::tie(a, b)` (or `forward_as_tuple`) gives a value; empty for anything else.
llvm::SmallVector<const clang::Expr*, 4> tiedBy(const clang::Expr* assignment);
/// The extents of a shape that is written out: `{a, b}`, an array reference or vector made from it, or one bare number. Nothing
/// when the shape comes from elsewhere.
std::optional<llvm::SmallVector<const clang::Expr*, 4>> extentsOf(const clang::Expr* shape);
/// Of an index whose first part takes an interval of rows, `{Slice(begin, end)}`: begin and end, where both are written.
std::optional<std::pair<const clang::Expr*, const clang::Expr*>> intervalIn(const clang::Expr* index);
/// Does this index, the first of several, keep the whole first dimension: `Slice()`, `"..."`?
bool keepsFirstDimension(const clang::Expr* index);
/// Parameter i of the called function for argument i (the object of an operator is not counted), or null.
const clang::ParmVarDecl* parameterOf(const clang::Expr* call, unsigned argument);

}  // namespace hvdize
