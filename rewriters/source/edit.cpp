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

EditSet::EditSet(clang::ASTContext& ast, const IncludeList& includes, Editable editable, DiagEngine& diags)
    : ast_(ast), includes_(includes), editable_(std::move(editable)), diags_(diags) {
  fileNumber(ast.getSourceManager().getMainFileID());
}

// A file that is entered several times has several IDs; its text is edited once.
std::optional<unsigned> EditSet::fileNumber(clang::FileID id) const {
  const clang::SourceManager& sm = ast_.getSourceManager();
  const auto entry = sm.getFileEntryRefForID(id);
  if (!entry) return std::nullopt;
  for (unsigned i = 0; i < files_.size(); ++i)
    if (files_[i].id == id || sm.getFileEntryForID(files_[i].id) == &entry->getFileEntry()) return i;
  const llvm::StringRef text = sm.getBufferData(id);
  files_.push_back({id, entry->getName().str(), text, lineEnding(text), indentationUnit(text)});
  return static_cast<unsigned>(files_.size() - 1);
}

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
  const auto number = file == endFile && !sm.isInSystemHeader(chars.getBegin()) && editable_(chars.getBegin()) ? fileNumber(file) : std::nullopt;
  if (!number) {
    const bool system = sm.isInSystemHeader(chars.getBegin());
    refused = {DiagID::EditOutsideFile, (system ? "the system header '" : "the header '") + sm.getFilename(chars.getBegin()).str() + "'"};
    return std::nullopt;
  }
  return FileRange{begin, end, *number};
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
  return wrap(insideBraces(e)->getSourceRange(), prefix, suffix, std::move(why));
}

const clang::Expr* insideBraces(const clang::Expr* e) {
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(e->IgnoreImplicit());
  return list && list->getNumInits() == 1 && list->getType()->isScalarType() ? list->getInit(0) : e;
}

bool EditSet::replace(SourceRange range, llvm::StringRef text, Why why) {
  auto at = gateOrReport(range, why);
  if (!at) return false;
  return take({Edit::Kind::Replace, *at, layOut(text, file(*at).eol, indentationAt(file(*at).text, at->begin)), "", std::move(why), {}, {}}, range);
}

bool EditSet::replace(const clang::Expr* e, llvm::StringRef text, Why why) { return replace(e->getSourceRange(), text, std::move(why)); }

bool EditSet::replaceBetween(const clang::Expr* left, const clang::Expr* right, llvm::StringRef text, Why why) {
  const SourceRange both(left->getBeginLoc(), right->getEndLoc());
  const auto begin = gateOrReport(left->getSourceRange(), why), end = gateOrReport(right->getSourceRange(), why);
  if (!begin || !end || begin->file != end->file || begin->end > end->begin) return false;
  return take({Edit::Kind::Replace, {begin->end, end->begin, begin->file}, text.str(), "", std::move(why), {}, {}}, both);
}

bool EditSet::insertBeforeToken(SourceLocation at, llvm::StringRef text, Why why) {
  auto token = gateOrReport(at, why);
  if (!token) return false;
  const FileRange point = token->at(token->begin);
  return take({Edit::Kind::Insert, point, text.str(), "", std::move(why), Edit::Side::BeforeNext, *token}, at);
}

llvm::StringRef EditSet::endOfLine(SourceLocation at) const {
  const auto number = fileNumber(ast_.getSourceManager().getFileID(ast_.getSourceManager().getFileLoc(at)));
  return number ? llvm::StringRef(files_[*number].eol) : "\n";
}

bool EditSet::insertAfterToken(SourceLocation at, llvm::StringRef text, Why why) {
  auto token = gateOrReport(at, why);
  if (!token) return false;
  const FileRange point = token->at(token->end);
  return take({Edit::Kind::Insert, point, text.str(), "", std::move(why), Edit::Side::AfterPrevious, *token}, at);
}

const Include* EditSet::includeBefore(const EditedFile& f, llvm::StringRef neighbour) const {
  const Include* after = nullptr;
  for (const Include& i : includes_.direct) {
    if (i.file != f.id) continue;
    after = &i;
    if (i.name == neighbour) break;
  }
  return after;
}

// Behind a byte order mark, `#pragma once`, and `#ifndef X` with its `#define X`.
unsigned EditSet::startOfCode(const EditedFile& f) const {
  const clang::SourceManager& sm = ast_.getSourceManager();
  clang::Lexer lexer(sm.getLocForStartOfFile(f.id), ast_.getLangOpts(), f.text.begin(), f.text.begin(), f.text.end());
  unsigned start = lineBegin(f.text, std::min<unsigned>(3, static_cast<unsigned>(f.text.size())));
  clang::Token token;
  lexer.LexFromRawLexer(token);
  while (token.is(clang::tok::hash)) {
    const unsigned line = sm.getFileOffset(token.getLocation());
    lexer.LexFromRawLexer(token);
    const llvm::StringRef word = token.is(clang::tok::raw_identifier) ? token.getRawIdentifier() : "";
    if (word != "pragma" && word != "ifndef" && word != "define") break;
    const unsigned end = lineEnd(f.text, line);
    start = std::min<unsigned>(end + static_cast<unsigned>(f.eol.size()), static_cast<unsigned>(f.text.size()));
    while (!lexer.LexFromRawLexer(token) && sm.getFileOffset(token.getLocation()) < end) {
    }
  }
  return start;
}

bool EditSet::addInclude(llvm::StringRef header, llvm::StringRef neighbour, Why why) {
  const std::string line = ("#include <" + header + ">").str();
  for (unsigned n = 0; n < files_.size(); ++n) {
    const EditedFile& f = files_[n];
    if (std::none_of(edits_.begin(), edits_.end(), [&](const Edit& e) { return e.range.file == n; })) continue;
    if (std::any_of(includes_.direct.begin(), includes_.direct.end(), [&](const Include& i) { return i.file == f.id && i.name == header; })) continue;
    const FileRange whole{0, 0, n};
    bool taken = false;
    if (const Include* after = includeBefore(f, neighbour)) {
      const FileRange owner{after->offset, after->end, n};
      taken = take({Edit::Kind::Insert, whole.at(lineEnd(f.text, after->end)), f.eol + line, "", why, Edit::Side::AfterPrevious, owner}, SourceRange());
    } else {
      const unsigned start = startOfCode(f);
      taken = take({Edit::Kind::Insert, whole.at(start), line + f.eol, "", why, Edit::Side::BeforeNext, {start, UINT32_MAX, n}}, SourceRange());
    }
    if (!taken) return false;
  }
  return true;
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

unsigned EditSet::lineOf(const Edit& edit) const { return ast_.getSourceManager().getLineNumber(file(edit.range).id, edit.range.begin); }

}  // namespace hvdize
