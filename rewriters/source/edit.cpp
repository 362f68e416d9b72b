// SPDX-License-Identifier: Apache-2.0
//
// The gate, and edits of tokens and expressions. Statements are in statements.cpp.
#include "rewriters/source/edit.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "rewriters/source/layout.h"

namespace hvdize {

using clang::CharSourceRange;
using clang::Lexer;
using clang::SourceLocation;
using clang::SourceRange;

EditSet::EditSet(clang::ASTContext& ast, const IncludeList& includes, DiagEngine& diags)
    : ast_(ast),
      includes_(includes),
      diags_(diags),
      file_(ast.getSourceManager().getMainFileID()),
      buffer_(ast.getSourceManager().getBufferData(file_)),
      eol_(lineEnding(buffer_)),
      indentUnit_(indentationUnit(buffer_)) {}

std::optional<FileRange> EditSet::gate(CharSourceRange range, Refused& refused) const {
  const clang::SourceManager& sm = ast_.getSourceManager();
  if (range.isInvalid()) {
    refused = {DiagID::EditOutsideFile, "code that has no text of its own"};
    return std::nullopt;
  }
  const CharSourceRange chars = Lexer::makeFileCharRange(range, sm, ast_.getLangOpts());
  if (chars.isInvalid()) {
    const SourceLocation in = range.getBegin().isMacroID() ? range.getBegin() : range.getEnd();
    if (in.isMacroID()) {
      const llvm::StringRef macro = Lexer::getImmediateMacroName(in, sm, ast_.getLangOpts());
      refused = {DiagID::EditInMacro, ("the text comes from the macro '" + macro + "'").str()};
    } else {
      refused = {DiagID::EditOutsideFile, "text that begins in one file and ends in another"};
    }
    return std::nullopt;
  }
  const auto [file, begin] = sm.getDecomposedLoc(chars.getBegin());
  const auto [endFile, end] = sm.getDecomposedLoc(chars.getEnd());
  if (file != file_ || endFile != file_) {
    const bool system = sm.isInSystemHeader(chars.getBegin());
    refused = {DiagID::EditOutsideFile, (system ? "the system header '" : "the header '") + sm.getFilename(chars.getBegin()).str() + "'"};
    return std::nullopt;
  }
  return FileRange{begin, end};
}

std::optional<FileRange> EditSet::gateOrReport(SourceRange range, const Why& why) {
  Refused refused;
  auto at = gate(CharSourceRange::getTokenRange(range), refused);
  if (!at) refuse(refused, range, why);
  return at;
}

bool EditSet::refuse(const Refused& refused, SourceRange where, const Why& why) {
  diags_.report(refused.id, where, refused.text, why.text);
  return false;
}

bool EditSet::take(Edit edit, SourceRange where) {
  for (const Edit& e : edits_) {
    // Instantiations of one template ask for the same edit once each.
    if (e.kind == edit.kind && e.range == edit.range && e.before == edit.before && e.after == edit.after && e.side == edit.side)
      return true;
    if (inConflict(e, edit)) {
      diags_.report(DiagID::EditConflict, where, e.why.text, edit.why.text);
      return false;
    }
  }
  edits_.push_back(std::move(edit));
  return true;
}

bool EditSet::wrap(SourceRange range, llvm::StringRef prefix, llvm::StringRef suffix, Why why) {
  auto at = gateOrReport(range, why);
  if (!at) return false;
  return take({Edit::Kind::Wrap, *at, prefix.str(), suffix.str(), std::move(why), {}, {}}, range);
}

bool EditSet::wrap(const clang::Expr* e, llvm::StringRef prefix, llvm::StringRef suffix, Why why) {
  return wrap(e->getSourceRange(), prefix, suffix, std::move(why));
}

bool EditSet::replace(SourceRange range, llvm::StringRef text, Why why) {
  auto at = gateOrReport(range, why);
  if (!at) return false;
  return take({Edit::Kind::Replace, *at, layOut(text, eol_, indentationAt(buffer_, at->begin)), "", std::move(why), {}, {}}, range);
}

bool EditSet::replace(const clang::Expr* e, llvm::StringRef text, Why why) { return replace(e->getSourceRange(), text, std::move(why)); }

bool EditSet::insertBeforeToken(SourceLocation at, llvm::StringRef text, Why why) {
  auto token = gateOrReport(at, why);
  if (!token) return false;
  const FileRange point{token->begin, token->begin};
  return take({Edit::Kind::Insert, point, text.str(), "", std::move(why), Edit::Side::BeforeNext, *token}, at);
}

bool EditSet::insertAfterToken(SourceLocation at, llvm::StringRef text, Why why) {
  auto token = gateOrReport(at, why);
  if (!token) return false;
  const FileRange point{token->end, token->end};
  return take({Edit::Kind::Insert, point, text.str(), "", std::move(why), Edit::Side::AfterPrevious, *token}, at);
}

bool EditSet::addInclude(llvm::StringRef header, llvm::StringRef neighbour, Why why) {
  if (includes_.includes(header.str())) return true;
  const std::string line = ("#include <" + header + ">").str();
  const Include* after = nullptr;
  for (const Include& i : includes_.direct) {
    after = &i;
    if (i.name == neighbour) break;
  }
  if (after) {
    const unsigned end = lineEnd(buffer_, after->end);
    return take({Edit::Kind::Insert, {end, end}, eol_ + line, "", std::move(why), Edit::Side::AfterPrevious, {after->offset, after->end}},
                SourceRange());
  }
  const unsigned start = lineBegin(buffer_, std::min<unsigned>(3, static_cast<unsigned>(buffer_.size())));
  return take({Edit::Kind::Insert, {start, start}, line + eol_, "", std::move(why), Edit::Side::BeforeNext, {start, UINT32_MAX}},
              SourceRange());
}

bool EditSet::canEdit(SourceRange range, std::string* reason) const {
  Refused refused;
  const bool possible = gate(CharSourceRange::getTokenRange(range), refused).has_value();
  if (!possible && reason) *reason = refused.text;
  return possible;
}

llvm::StringRef EditSet::text(SourceRange range) const {
  const clang::SourceManager& sm = ast_.getSourceManager();
  const CharSourceRange chars = Lexer::makeFileCharRange(CharSourceRange::getTokenRange(range), sm, ast_.getLangOpts());
  return chars.isInvalid() ? llvm::StringRef() : Lexer::getSourceText(chars, sm, ast_.getLangOpts());
}

llvm::StringRef EditSet::text(const clang::Expr* e) const { return text(e->getSourceRange()); }

unsigned EditSet::lineOf(const Edit& edit) const { return ast_.getSourceManager().getLineNumber(file_, edit.range.begin); }

}  // namespace hvdize
