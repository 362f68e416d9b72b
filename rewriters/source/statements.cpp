// SPDX-License-Identifier: Apache-2.0
//
// The part of the edit gate that knows how statements stand in the text: indentation, braces, what shares a line.
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "rewriters/source/edit.h"
#include "rewriters/source/layout.h"

namespace hvdize {
namespace {

using clang::DynTypedNode;
using clang::Stmt;

/// How a child stands in its parent.
enum class Standing {
  Part,       ///< evaluated with the parent, once: climb on
  Statement,  ///< a statement of its own in a block or behind a label
  Body,       ///< the body of `if`, `else` or a loop
  Repeated,   ///< evaluated on every iteration
  Nowhere     ///< a function's body, a default argument, an initialiser of a member
};

bool isSame(const Stmt* a, const Stmt* b) { return a && a == b; }

Standing standingInLoop(const Stmt* child, const Stmt* parent) {
  if (auto* s = llvm::dyn_cast<clang::ForStmt>(parent))
    return isSame(s->getBody(), child) ? Standing::Body : isSame(s->getInit(), child) ? Standing::Part : Standing::Repeated;
  if (auto* s = llvm::dyn_cast<clang::CXXForRangeStmt>(parent)) return isSame(s->getBody(), child) ? Standing::Body : Standing::Part;
  if (auto* s = llvm::dyn_cast<clang::WhileStmt>(parent)) return isSame(s->getBody(), child) ? Standing::Body : Standing::Repeated;
  if (auto* s = llvm::dyn_cast<clang::DoStmt>(parent)) return isSame(s->getBody(), child) ? Standing::Body : Standing::Repeated;
  return Standing::Part;
}

Standing standingIn(const Stmt* child, const Stmt* parent) {
  if (llvm::isa<clang::CompoundStmt>(parent)) return Standing::Statement;
  if (auto* s = llvm::dyn_cast<clang::IfStmt>(parent))
    return isSame(s->getThen(), child) || isSame(s->getElse(), child) ? Standing::Body : Standing::Part;
  if (auto* s = llvm::dyn_cast<clang::SwitchStmt>(parent)) return isSame(s->getBody(), child) ? Standing::Body : Standing::Part;
  if (auto* s = llvm::dyn_cast<clang::SwitchCase>(parent)) return isSame(s->getSubStmt(), child) ? Standing::Statement : Standing::Part;
  if (auto* s = llvm::dyn_cast<clang::LabelStmt>(parent)) return isSame(s->getSubStmt(), child) ? Standing::Statement : Standing::Part;
  if (auto* s = llvm::dyn_cast<clang::LambdaExpr>(parent)) return isSame(s->getBody(), child) ? Standing::Nowhere : Standing::Part;
  if (llvm::isa<clang::CXXTryStmt, clang::CXXCatchStmt>(parent)) return Standing::Nowhere;
  return standingInLoop(child, parent);
}

/// The statement's text as the AST ends it lacks the semicolon.
bool lacksSemicolon(const Stmt* s) {
  if (auto* x = llvm::dyn_cast<clang::IfStmt>(s)) return lacksSemicolon(x->getElse() ? x->getElse() : x->getThen());
  if (auto* x = llvm::dyn_cast<clang::ForStmt>(s)) return lacksSemicolon(x->getBody());
  if (auto* x = llvm::dyn_cast<clang::CXXForRangeStmt>(s)) return lacksSemicolon(x->getBody());
  if (auto* x = llvm::dyn_cast<clang::WhileStmt>(s)) return lacksSemicolon(x->getBody());
  if (auto* x = llvm::dyn_cast<clang::SwitchStmt>(s)) return lacksSemicolon(x->getBody());
  if (auto* x = llvm::dyn_cast<clang::SwitchCase>(s)) return lacksSemicolon(x->getSubStmt());
  if (auto* x = llvm::dyn_cast<clang::LabelStmt>(s)) return lacksSemicolon(x->getSubStmt());
  if (auto* x = llvm::dyn_cast<clang::AttributedStmt>(s)) return lacksSemicolon(x->getSubStmt());
  return !llvm::isa<clang::CompoundStmt, clang::DeclStmt, clang::NullStmt, clang::CXXTryStmt>(s);
}

/// The parent as a statement, through declarations of variables; null elsewhere.
const Stmt* parentStmt(clang::ASTContext& ast, const Stmt* s) {
  DynTypedNode node = DynTypedNode::create(*s);
  while (true) {
    auto parents = ast.getParents(node);
    if (parents.empty()) return nullptr;
    node = parents[0];
    if (auto* parent = node.get<Stmt>()) return parent;
    auto* variable = node.get<clang::VarDecl>();
    if (!node.get<clang::TypeLoc>() && (!variable || llvm::isa<clang::ParmVarDecl>(variable))) return nullptr;
  }
}

/// A label in front of a statement shares its place: the block around them decides.
const Stmt* behindLabels(clang::ASTContext& ast, const Stmt* s) {
  while (const Stmt* parent = parentStmt(ast, s)) {
    if (!llvm::isa<clang::LabelStmt, clang::SwitchCase, clang::AttributedStmt>(parent)) break;
    s = parent;
  }
  return s;
}

/// Would an `else` behind `s` bind to an `if` put in front of `s`?
bool elseFollows(clang::ASTContext& ast, const Stmt* s) {
  while (const Stmt* parent = parentStmt(ast, s)) {
    if (standingIn(s, parent) == Standing::Nowhere || llvm::isa<clang::CompoundStmt>(parent)) return false;
    if (auto* branch = llvm::dyn_cast<clang::IfStmt>(parent))
      if (isSame(branch->getThen(), s) && branch->getElse()) return true;
    s = parent;
  }
  return false;
}

}  // namespace

const Stmt* EditSet::statementOf(const Stmt* s, Refused& refused) const {
  refused.id = DiagID::NoStatementPlace;
  while (const Stmt* parent = parentStmt(ast_, s)) {
    switch (standingIn(s, parent)) {
      case Standing::Statement:
        if (llvm::isa<clang::SwitchCase, clang::LabelStmt>(s)) {
          refused.text = "a label";
          return nullptr;
        }
        return s;
      case Standing::Body:
        if (!llvm::isa<clang::CompoundStmt>(s)) return s;
        refused.text = "a block that is the body of another statement";
        return nullptr;
      case Standing::Repeated:
        refused.text = "it is evaluated on every iteration of a loop";
        return nullptr;
      case Standing::Nowhere:
        refused.text = "the body of a function";
        return nullptr;
      case Standing::Part: s = parent; break;
    }
  }
  refused.text = "it belongs to no statement of a function";
  return nullptr;
}

const Stmt* EditSet::enclosingStatement(const Stmt* s) const {
  Refused ignored;
  return statementOf(s, ignored);
}

std::optional<FileRange> EditSet::statementRange(const Stmt* s, Refused& refused) const {
  auto at = gate(clang::CharSourceRange::getTokenRange(s->getSourceRange()), refused);
  if (!at || !lacksSemicolon(s)) return at;
  const llvm::StringRef buffer = file(*at).text;
  const clang::SourceLocation start = ast_.getSourceManager().getLocForStartOfFile(file(*at).id);
  clang::Lexer lexer(start, ast_.getLangOpts(), buffer.begin(), buffer.begin() + at->end, buffer.end());
  clang::Token token;
  lexer.LexFromRawLexer(token);
  if (token.isNot(clang::tok::semi)) {
    refused = {DiagID::EditInMacro, "the statement ends inside a macro"};
    return std::nullopt;
  }
  at->end = ast_.getSourceManager().getFileOffset(token.getLocation()) + 1;
  return at;
}

unsigned EditSet::endOfLastToken(const FileRange& range) const {
  const clang::SourceManager& sm = ast_.getSourceManager();
  const llvm::StringRef buffer = file(range).text;
  clang::Lexer lexer(sm.getLocForStartOfFile(file(range).id), ast_.getLangOpts(), buffer.begin(), buffer.begin() + range.begin, buffer.end());
  clang::Token token;
  unsigned last = range.begin;
  while (!lexer.LexFromRawLexer(token) && sm.getFileOffset(token.getLocation()) < range.end)
    last = sm.getFileOffset(token.getLocation()) + token.getLength();
  return last;
}

std::optional<EditSet::Spot> EditSet::spotOf(const Stmt* statement, Refused& refused) const {
  auto range = statementRange(statement, refused);
  if (!range) return std::nullopt;
  Spot spot;
  spot.range = *range;
  const llvm::StringRef buffer = file(*range).text;
  spot.firstOnLine = isFirstOnLine(buffer, range->begin);
  spot.lastOnLine = onlyCommentFollows(buffer, range->end);
  spot.tail = spot.lastOnLine ? lineEnd(buffer, range->end) : range->end;
  spot.indent = indentationAt(buffer, range->begin).str();
  const Stmt* outermost = behindLabels(ast_, statement);
  const Stmt* parent = parentStmt(ast_, outermost);
  spot.braces = parent && standingIn(outermost, parent) == Standing::Body && !llvm::isa<clang::SwitchStmt>(parent);
  if (!spot.braces) return spot;

  auto outer = gate(clang::CharSourceRange::getTokenRange(parent->getBeginLoc(), parent->getBeginLoc()), refused);
  if (!outer) return std::nullopt;
  spot.outerIndent = indentationAt(buffer, outer->begin).str();
  spot.braceAt = range->begin;
  if (spot.firstOnLine) {
    // The brace goes behind the ')', `else` or `do` before the body, which may be followed by a comment.
    spot.braceAt = endOfLastToken({outer->begin, range->begin, range->file});
  } else {
    spot.indent = spot.outerIndent + file(*range).indentUnit;
  }
  return spot;
}

std::optional<EditSet::Spot> EditSet::spotOrReport(const Stmt* s, const Why& why) {
  Refused refused;
  const Stmt* statement = statementOf(s, refused);
  std::optional<Spot> spot;
  if (statement) spot = spotOf(statement, refused);
  if (!spot) refuse(refused, s->getSourceRange(), why);
  return spot;
}

bool EditSet::takeBraces(const Spot& spot, clang::SourceRange where, const Why& why) {
  const std::string& eol = file(spot.range).eol;
  Edit edit{Edit::Kind::Braces, {spot.braceAt, spot.tail, spot.range.file}, "", eol + spot.outerIndent + "}", why, {}, {}};
  edit.before = spot.firstOnLine ? " {" : "{" + eol + spot.indent;
  return take(std::move(edit), where);
}

bool EditSet::insertBefore(const Stmt* s, llvm::StringRef code, Why why) {
  auto spot = spotOrReport(s, why);
  if (!spot) return false;
  if (spot->braces && !takeBraces(*spot, s->getSourceRange(), why)) return false;
  const std::string& eol = file(spot->range).eol;
  std::string text = layOut(code, eol, spot->indent);
  text += spot->braces || spot->firstOnLine || !canShareLine(code) ? eol + spot->indent : " ";
  const FileRange point = spot->range.at(spot->range.begin);
  return take({Edit::Kind::Insert, point, std::move(text), "", std::move(why), Edit::Side::BeforeNext, spot->range}, s->getSourceRange());
}

bool EditSet::insertAfter(const Stmt* s, llvm::StringRef code, Why why) {
  auto spot = spotOrReport(s, why);
  if (!spot) return false;
  if (spot->braces && !takeBraces(*spot, s->getSourceRange(), why)) return false;
  const std::string& eol = file(spot->range).eol;
  const bool ownLine = spot->braces || spot->lastOnLine || !canShareLine(code);
  std::string text = ownLine ? eol + spot->indent + layOut(code, eol, spot->indent) : " " + code.str();
  if (ownLine && !spot->lastOnLine && !spot->braces) text += eol + spot->indent;
  const FileRange point = spot->range.at(spot->tail);
  return take({Edit::Kind::Insert, point, std::move(text), "", std::move(why), Edit::Side::AfterPrevious, spot->range},
              s->getSourceRange());
}

bool EditSet::insertAtStart(const Stmt* body, llvm::StringRef code, Why why) {
  auto* block = llvm::dyn_cast<clang::CompoundStmt>(body);
  if (!block) return insertBefore(body, code, std::move(why));
  auto brace = gateOrReport(block->getLBracLoc(), why);
  if (!brace) return false;
  const auto& [id, path, buffer, eol, indentUnit] = file(*brace);
  const bool ownLine = onlyCommentFollows(buffer, brace->end);
  const unsigned at = ownLine ? lineEnd(buffer, brace->end) : brace->end;
  std::string indent = indentationAt(buffer, brace->begin).str() + indentUnit;
  if (ownLine && !block->body_empty()) {
    Refused ignored;
    auto first = gate(clang::CharSourceRange::getTokenRange(block->body_front()->getBeginLoc(), block->body_front()->getBeginLoc()), ignored);
    if (first && isFirstOnLine(buffer, first->begin)) indent = indentationAt(buffer, first->begin).str();
  }
  std::string text;
  if (ownLine) text = eol + indent + layOut(code, eol, indent);
  else if (canShareLine(code)) text = " " + code.str();
  else text = eol + indent + layOut(code, eol, indent) + eol + indent;
  return take({Edit::Kind::Insert, brace->at(at), std::move(text), "", std::move(why), Edit::Side::AfterPrevious, *brace}, block->getLBracLoc());
}

bool EditSet::insertAtEnd(const Stmt* body, llvm::StringRef code, Why why) {
  auto* block = llvm::dyn_cast<clang::CompoundStmt>(body);
  if (!block) return insertAfter(body, code, std::move(why));
  auto brace = gateOrReport(block->getRBracLoc(), why);
  if (!brace) return false;
  const auto& [id, path, buffer, eol, indentUnit] = file(*brace);
  const std::string outer = indentationAt(buffer, brace->begin).str();
  unsigned at = brace->begin;
  std::string text;
  if (isFirstOnLine(buffer, brace->begin)) {
    std::string unit = indentUnit;
    if (!block->body_empty()) {
      Refused ignored;
      auto last = gate(clang::CharSourceRange::getTokenRange(block->body_back()->getBeginLoc(), block->body_back()->getBeginLoc()), ignored);
      if (last && isFirstOnLine(buffer, last->begin)) {
        llvm::StringRef inner = indentationAt(buffer, last->begin);
        if (inner.consume_front(outer) && !inner.empty()) unit = inner.str();
      }
    }
    text = unit + layOut(code, eol, outer + unit) + eol + outer;
  } else if (canShareLine(code)) {
    const bool apart = brace->begin > 0 && (buffer[brace->begin - 1] == ' ' || buffer[brace->begin - 1] == '\t');
    text = (apart ? "" : " ") + code.str() + " ";
  } else {
    // The blanks in front of the brace become part of its indentation.
    const llvm::StringRef before = llvm::StringRef(buffer).take_front(brace->begin);
    const size_t blanks = before.size() - before.rtrim(' ').size();
    if (blanks <= outer.size() && llvm::StringRef(outer).take_back(blanks).find_first_not_of(' ') == llvm::StringRef::npos) at -= static_cast<unsigned>(blanks);
    text = eol + outer + indentUnit + layOut(code, eol, outer + indentUnit) + eol + outer.substr(0, outer.size() - (brace->begin - at));
  }
  const FileRange point = brace->at(at);
  return take({Edit::Kind::Insert, point, std::move(text), "", std::move(why), Edit::Side::BeforeNext, *brace}, block->getRBracLoc());
}

bool EditSet::guard(const Stmt* s, llvm::StringRef prefix, Why why) {
  Refused refused;
  const Stmt* statement = statementOf(s, refused);
  if (statement && llvm::isa<clang::DeclStmt>(statement)) {
    refused.text = "a declaration cannot be made conditional";
    statement = nullptr;
  }
  std::optional<Spot> spot;
  if (statement) spot = spotOf(statement, refused);
  if (!spot) return refuse(refused, s->getSourceRange(), why);
  if (spot->braces && elseFollows(ast_, behindLabels(ast_, statement)) && !takeBraces(*spot, s->getSourceRange(), why)) return false;
  // Braces around a guarded `if` keep a reader (and -Wdangling-else) from wondering where its `else` belongs.
  const bool nested = llvm::isa<clang::IfStmt>(statement);
  return take({Edit::Kind::Wrap, spot->range, prefix.str() + (nested ? "{ " : ""), nested ? " }" : "", std::move(why), {}, {}},
              s->getSourceRange());
}

}  // namespace hvdize
