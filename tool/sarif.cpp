// SPDX-License-Identifier: Apache-2.0
#include "tool/sarif.h"

#include <llvm/Support/ConvertUTF.h>
#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/Path.h>

#include <map>

namespace hvdize::tool {
namespace {

using llvm::json::Array;
using llvm::json::Object;

const char* levelOf(Severity severity) {
  switch (severity) {
    case Severity::Note: return "note";
    case Severity::Warning: return "warning";
    case Severity::Refusal: case Severity::Running: return "error";
  }
  return "none";
}

/// A URI reference: absolute paths as file:, others relative to where hvdize ran.
std::string uriOf(const std::string& path) {
  std::string uri = llvm::sys::path::is_absolute(path) ? "file://" : "";
  for (const unsigned char c : path) {
    if (std::isalnum(c) || std::string("-._~/+@,=").find(static_cast<char>(c)) != std::string::npos) uri += static_cast<char>(c);
    else uri += llvm::formatv("%{0:X-2}", c).str();
  }
  return uri;
}

/// SARIF counts UTF-16 code units, the compiler bytes.
unsigned columnOf(const DiagPlace& p, unsigned column) {
  if (column == 0 || column - 1 > p.lineText.size()) return column;
  llvm::SmallVector<llvm::UTF16, 128> units;
  if (!llvm::convertUTF8ToUTF16String(llvm::StringRef(p.lineText).take_front(column - 1), units)) return column;
  return static_cast<unsigned>(units.size()) + 1;
}

Object locationOf(const DiagPlace& p) {
  Object physical{{"artifactLocation", Object{{"uri", uriOf(p.file)}}}};
  if (p.line > 0) {
    Object region{{"startLine", p.line}};
    if (!p.inRewritten && p.column > 0) {
      region["startColumn"] = columnOf(p, p.column);
      region["endLine"] = std::max(p.endLine, p.line);
      region["endColumn"] = p.endLine == p.line ? columnOf(p, p.endColumn) : p.endColumn;
    }
    physical["region"] = std::move(region);
  }
  return Object{{"physicalLocation", std::move(physical)}};
}

/// The rows of the table that are used, in the order of their first use.
class Rules {
 public:
  int64_t indexOf(DiagID id) {
    const auto [it, isNew] = index_.emplace(id, static_cast<int64_t>(rules_.size()));
    if (!isNew) return it->second;
    const DiagInfo& row = diagInfo(id);
    std::string page;
    llvm::raw_string_ostream os(page);
    explain(os, row);
    rules_.push_back(Object{{"id", idString(id)},
                            {"name", std::string(row.name)},
                            {"shortDescription", Object{{"text", std::string(row.message)}}},
                            {"fullDescription", Object{{"text", std::string(row.explanation)}}},
                            {"help", Object{{"text", page}, {"markdown", page}}},
                            {"defaultConfiguration", Object{{"level", levelOf(row.severity)}}}});
    return it->second;
  }
  Array take() { return std::move(rules_); }

 private:
  std::map<DiagID, int64_t> index_;
  Array rules_;
};

Object resultOf(const Diagnostic& d, Rules& rules) {
  Object result{{"ruleId", idString(d.id)}, {"ruleIndex", rules.indexOf(d.id)}, {"level", levelOf(d.severity)}, {"message", Object{{"text", llvm::json::fixUTF8(d.message)}}},
                {"locations", Array{locationOf(d.place)}}};
  Array related;
  for (const auto& [place, text] : d.notes) {
    Object location = locationOf(place);
    location["message"] = Object{{"text", llvm::json::fixUTF8(text)}};
    related.push_back(std::move(location));
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  return result;
}

}  // namespace

std::string sarifReport(const std::vector<Outcome>& outcomes, int exitStatus) {
  Rules rules;
  Array results, notifications;
  for (const Outcome& o : outcomes) {
    for (const Diagnostic& d : o.diagnostics) results.push_back(resultOf(d, rules));
    if (!o.result.compilerOutput.empty())
      notifications.push_back(Object{{"level", "error"}, {"message", Object{{"text", llvm::json::fixUTF8(o.result.compilerOutput)}}}});
  }
  Object invocation{{"executionSuccessful", exitStatus <= 1}, {"exitCode", exitStatus}};
  if (!notifications.empty()) invocation["toolExecutionNotifications"] = std::move(notifications);
  Object driver{{"name", "hvdize"}, {"version", HVDIZE_VERSION}, {"rules", rules.take()}};
  Object run{{"tool", Object{{"driver", std::move(driver)}}}, {"columnKind", "utf16CodeUnits"}, {"invocations", Array{std::move(invocation)}}, {"results", std::move(results)}};
  const llvm::json::Value log = Object{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Array{std::move(run)}}};
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("{0:2}\n", log);
  return text;
}

}  // namespace hvdize::tool
