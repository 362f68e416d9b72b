// SPDX-License-Identifier: Apache-2.0
//
// Everything hvdize says to the author goes through here: one table of IDs (diagnostics.def), one engine that collects,
// and one printer (print.h).
#pragma once

#include <clang/Basic/SourceLocation.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/StringSet.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rewriters/source/line_map.h"

namespace clang {
class LangOptions;
class NamedDecl;
class SourceManager;
}  // namespace clang

namespace hvdize {

/// `Running`: said by the distributed program, never by hvdize.
enum class Severity { Note, Warning, Refusal, Running };

/// The number is the one the author sees: DiagID::EditInMacro is HVD3001 when its row says 3001.
enum class DiagID : unsigned {
#define HVD_DIAG(NUMBER, SEVERITY, NAME, ASSUME, MESSAGE, EXPLANATION, BEFORE, AFTER) NAME = NUMBER,
#include "rewriters/diagnostics/diagnostics.def"
#undef HVD_DIAG
};

/// One row of the table.
struct DiagInfo {
  DiagID id;
  Severity severity;
  std::string_view name;        ///< CamelCase, as in DiagID
  std::string_view assume;      ///< the word for --assume; empty when the row is not an assumption
  std::string_view message;     ///< with %0, %1, ... for the arguments
  std::string_view explanation; ///< Markdown: what it means, why it matters, what the author can do
  std::string_view before;      ///< C++: the situation
  std::string_view after;       ///< C++: what to write instead, or what hvdize makes of it

  bool isAssumption() const { return !assume.empty(); }
};

/// All rows, in the order of their numbers.
llvm::ArrayRef<DiagInfo> allDiagnostics();
const DiagInfo& diagInfo(DiagID id);
/// By "HVD3004", "3004", the row's name or its --assume word; null when there is none.
const DiagInfo* findDiagnostic(llvm::StringRef idOrName);
/// "HVD3004"
std::string idString(DiagID id);

/// A place, resolved when it is reported, so that it outlives the AST it came from. Lines and columns count from 1; line 0
/// means "the file as a whole".
struct DiagPlace {
  std::string file;
  unsigned line = 0, column = 0;
  unsigned endLine = 0, endColumn = 0;  ///< just behind the range; equal to the start when it is a point
  std::string lineText;                 ///< the source line, without its end
  bool inRewritten = false;             ///< `lineText` and the columns are of the text hvdize wrote, `line` of the author's
};

/// A path for people: without the "./" that the compiler puts before a file of its working directory.
std::string plainPath(llvm::StringRef path);

struct Diagnostic {
  DiagID id;
  Severity severity;      ///< after --assume and --strict
  bool refusedByStrict = false;
  std::string message;
  DiagPlace place;
  std::vector<std::pair<DiagPlace, std::string>> notes;  ///< "the gradient is read here"
};

class DiagEngine {
 public:
  /// `assume` holds IDs or short names; see unknownAssumptions.
  explicit DiagEngine(bool strict = false, llvm::ArrayRef<std::string> assume = {});

  /// Of the entries of --assume, those that name no assumption.
  static std::vector<std::string> unknownAssumptions(llvm::ArrayRef<std::string> assume);

  /// What is said of no place in particular is said of this file; else of the one that is parsed.
  void setProgram(std::string file) { program_ = std::move(file); }
  /// Locations reported from now on are of this source manager. With line maps they are of the rewritten texts and are mapped
  /// back to the author's lines. All three must live until the next setSource or the last report.
  void setSource(const clang::SourceManager& sm, const clang::LangOptions& lo, const LineMaps* maps = nullptr);

  /// Lets a report be followed by located remarks: `diags.report(...).note(range, "the gradient is read here")`.
  class Handle {
   public:
    Handle(DiagEngine& engine, std::optional<size_t> index) : engine_(engine), index_(index) {}
    Handle& note(clang::SourceRange range, std::string text);

   private:
    DiagEngine& engine_;
    std::optional<size_t> index_;  // none: the same diagnostic had been reported before
  };

  /// Arguments: strings, integers, or a NamedDecl pointer (its name). A diagnostic with the same ID, place and text as an
  /// earlier one is dropped (instantiations of a template share ranges). An invalid range means the file as a whole.
  template <typename... Args>
  Handle report(DiagID id, clang::SourceRange range, const Args&... args) {
    return add(id, resolve(range), {argument(args)...});
  }
  template <typename... Args>
  Handle report(DiagID id, clang::SourceLocation location, const Args&... args) {
    return add(id, resolve(clang::SourceRange(location)), {argument(args)...});
  }
  /// About a file as a whole.
  template <typename... Args>
  Handle reportFile(DiagID id, llvm::StringRef file, const Args&... args) {
    DiagPlace place;
    place.file = file.str();
    return add(id, std::move(place), {argument(args)...});
  }
  Handle add(DiagID id, DiagPlace place, std::vector<std::string> arguments);

  /// True when the author has confirmed this assumption with --assume.
  bool isAssumed(DiagID id) const;
  /// How this ID would be reported now.
  Severity severityOf(DiagID id) const;

  size_t count(Severity severity) const;
  size_t count(DiagID id) const;
  bool hasRefusals() const { return count(Severity::Refusal) > 0; }

  /// By file, line, column, then number; whole-file ones first.
  std::vector<Diagnostic> sorted() const;

  DiagPlace resolve(clang::SourceRange range) const;

  /// Changes every text of what was reported: the sources were read with other names than the author's.
  void changeTexts(const std::function<void(std::string&)>& change);

 private:
  friend class Handle;
  static std::string argument(const std::string& s) { return s; }
  static std::string argument(std::string_view s) { return std::string(s); }
  static std::string argument(llvm::StringRef s) { return s.str(); }
  static std::string argument(const char* s) { return s; }
  static std::string argument(const clang::NamedDecl* decl);
  template <typename T>
    requires std::is_integral_v<T>
  static std::string argument(T value) {
    return std::to_string(value);
  }

  bool strict_;
  std::vector<DiagID> assumed_;
  const clang::SourceManager* sm_ = nullptr;
  const clang::LangOptions* lo_ = nullptr;
  const LineMaps* maps_ = nullptr;
  std::string program_;
  std::vector<Diagnostic> diagnostics_;
  llvm::StringSet<> seen_;
};

}  // namespace hvdize
