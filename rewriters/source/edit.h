// SPDX-License-Identifier: Apache-2.0
//
// The edit gate: the only way from a pass to the author's text. It checks where an edit goes (never a header of the system or of
// the framework, never a macro body), lays it out (indentation, braces, line ends of the file at hand), and composes it with the
// others.
#pragma once

#include <clang/Basic/SourceLocation.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rewriters/diagnostics/diagnostics.h"
#include "rewriters/source/includes.h"
#include "rewriters/source/line_map.h"

namespace clang {
class ASTContext;
class Expr;
class LangOptions;
class SourceManager;
class Stmt;
}  // namespace clang

namespace hvdize {

/// Why an edit is made: the diagnostic that explains it, and a few words for reports and --diff readers.
struct Why {
  DiagID id;
  std::string text;
};

/// Bytes [begin, end) of a file of the author's: the one with that number in its EditSet.
struct FileRange {
  unsigned begin = 0, end = 0;
  unsigned file = 0;
  bool contains(const FileRange& o) const { return file == o.file && begin <= o.begin && o.end <= end; }
  bool operator==(const FileRange&) const = default;
  /// No bytes, at `offset` of the same file.
  FileRange at(unsigned offset) const { return {offset, offset, file}; }
};

/// A file that can be edited: its text, and how it is laid out.
struct EditedFile {
  clang::FileID id;
  std::string path;  ///< as the compiler was given it
  llvm::StringRef text;
  std::string eol, indentUnit;
};

/// One change of the text. `Wrap` puts `before` and `after` around `range`, which other edits may change inside; `Braces` is a wrap
/// that makes a block of an unbraced body; `Replace` puts `before` in the place of `range`; `Insert` has an empty range.
struct Edit {
  enum class Kind { Replace, Insert, Wrap, Braces };
  /// An insertion that belongs to the text before its position comes before one that belongs to the text behind it.
  enum class Side { AfterPrevious, BeforeNext };

  Kind kind = Kind::Insert;
  FileRange range;
  std::string before, after;
  Why why;
  Side side = Side::BeforeNext;
  /// Insert: the token or statement that it precedes or follows. It decides the order of insertions at one place: what belongs
  /// to the smaller piece of text is nearer to it.
  FileRange owner;
};

/// The number in `rate{0.1}`: what stands in the braces of a scalar; any other expression itself.
const clang::Expr* insideBraces(const clang::Expr* e);

class EditSet {
 public:
  /// Which files are the author's.
  using Editable = std::function<bool(clang::SourceLocation)>;

  /// `includes` are the #include directives of the program (see includes.h). All references must outlive the set.
  EditSet(clang::ASTContext& ast, const IncludeList& includes, Editable editable, DiagEngine& diags);

  // Each of these returns true when the edit was taken (or the same one was taken before). On false, the reason has been
  // reported as a refusal at the place: macro body (HVD3001), a header that is not the author's (HVD3002), no place for a statement
  // (HVD3003), contradiction to an earlier edit (HVD3004).
  //
  // `code` is one or several statements without indentation, lines separated by '\n', no final newline.

  /// Before the statement that holds `s` (an expression or a statement). A statement that is the unbraced body of an `if` or
  /// a loop gets braces. Refused where no statement can precede the evaluation: conditions and increments of loops.
  bool insertBefore(const clang::Stmt* s, llvm::StringRef code, Why why);
  /// After the statement that holds `s`, behind its semicolon and the comment on its line.
  bool insertAfter(const clang::Stmt* s, llvm::StringRef code, Why why);
  /// First in the block `body`; an unbraced body gets braces.
  bool insertAtStart(const clang::Stmt* body, llvm::StringRef code, Why why);
  /// Last in the block `body`; an unbraced body gets braces.
  bool insertAtEnd(const clang::Stmt* body, llvm::StringRef code, Why why);

  /// `prefix` and `suffix` around the tokens of `range`; of two wraps the one with the larger range is outside, of two around the
  /// same range the later one.
  bool wrap(clang::SourceRange range, llvm::StringRef prefix, llvm::StringRef suffix, Why why);
  bool wrap(const clang::Expr* e, llvm::StringRef prefix, llvm::StringRef suffix, Why why);
  /// `prefix` before the whole statement that holds `s`: for `if (hvd::is_root()) `. The statement's own braces and semicolon
  /// stay; where an `else` would attach to the new `if`, braces are added.
  bool guard(const clang::Stmt* s, llvm::StringRef prefix, Why why);

  bool replace(clang::SourceRange range, llvm::StringRef text, Why why);
  bool replace(const clang::Expr* e, llvm::StringRef text, Why why);
  /// What stands between two operands of one operator, blanks included.
  bool replaceBetween(const clang::Expr* left, const clang::Expr* right, llvm::StringRef text, Why why);
  /// In front of the token at `at`.
  bool insertBeforeToken(clang::SourceLocation at, llvm::StringRef text, Why why);
  /// Behind the token that begins at `at`.
  bool insertAfterToken(clang::SourceLocation at, llvm::StringRef text, Why why);

  /// `#include <header>` in every edited file, on a line of its own: after the include of `neighbour` ("hvd/hvd.hpp"), else after the
  /// last include of the file, else at its start (behind `#pragma once` and an include guard).
  bool addInclude(llvm::StringRef header, llvm::StringRef neighbour, Why why);

  /// How lines end in the file of `at`.
  llvm::StringRef endOfLine(clang::SourceLocation at) const;
  /// Could `range` be edited? Reports nothing; `*reason` gets the reason why not.
  bool canEdit(clang::SourceRange range, std::string* reason = nullptr) const;
  /// The author's text of a range, as written (macros unexpanded); empty when it has no contiguous text in one file.
  llvm::StringRef text(clang::SourceRange range) const;
  llvm::StringRef text(const clang::Expr* e) const;
  /// The statement that holds `s`: a child of a block, or the body of an if, a loop or a label. Null when there is none.
  const clang::Stmt* enclosingStatement(const clang::Stmt* s) const;

  bool empty() const { return edits_.empty(); }
  /// In the order in which they were made. A statement's braces are an edit of their own.
  llvm::ArrayRef<Edit> edits() const { return edits_; }
  /// The files that edits were asked for; `FileRange::file` counts in them.
  const std::deque<EditedFile>& files() const { return files_; }
  /// The author's line at which an edit begins.
  unsigned lineOf(const Edit& edit) const;

 private:
  struct Refused {
    DiagID id = DiagID::EditInMacro;
    std::string text;
  };
  /// Where and how a statement stands: what the insertion of a neighbour needs to know.
  struct Spot {
    FileRange range;        ///< the statement, its semicolon included
    unsigned tail = 0;      ///< where a following statement goes: behind the comment on the line
    std::string indent;     ///< of a new line beside it
    bool firstOnLine = true, lastOnLine = true;
    bool braces = false;    ///< it is the unbraced body of `if`, `else` or a loop
    std::string outerIndent;///< of the closing brace
    unsigned braceAt = 0;   ///< where the opening brace goes
  };
  std::optional<FileRange> gate(clang::CharSourceRange range, Refused& refused) const;
  std::optional<unsigned> fileNumber(clang::FileID id) const;
  const EditedFile& file(const FileRange& range) const { return files_[range.file]; }
  std::optional<FileRange> gateOrReport(clang::SourceRange range, const Why& why);
  std::optional<FileRange> statementRange(const clang::Stmt* s, Refused& refused) const;
  unsigned endOfLastToken(const FileRange& range) const;
  const Include* includeBefore(const EditedFile& f, llvm::StringRef neighbour) const;
  unsigned startOfCode(const EditedFile& f) const;
  const clang::Stmt* statementOf(const clang::Stmt* s, Refused& refused) const;
  std::optional<Spot> spotOf(const clang::Stmt* statement, Refused& refused) const;
  std::optional<Spot> spotOrReport(const clang::Stmt* s, const Why& why);
  bool take(Edit edit, clang::SourceRange where);
  bool takeBraces(const Spot& spot, clang::SourceRange where, const Why& why);
  bool refuse(const Refused& refused, clang::SourceRange where, const Why& why);

  clang::ASTContext& ast_;
  const IncludeList& includes_;
  Editable editable_;
  DiagEngine& diags_;
  mutable std::deque<EditedFile> files_;  // known once somebody asked
  std::vector<Edit> edits_;
};

/// The new text of one file. `edits` must be those of that file, and free of conflicts, as those of an EditSet are. `map`, when given,
/// gets the way back.
std::string applyEdits(llvm::StringRef buffer, llvm::ArrayRef<Edit> edits, LineMap* map = nullptr);

/// Do these two contradict each other? (Crossing wraps, two texts for one place, an edit inside replaced text.)
bool inConflict(const Edit& a, const Edit& b);

}  // namespace hvdize
