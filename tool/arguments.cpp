// SPDX-License-Identifier: Apache-2.0
#include "tool/arguments.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Path.h>

#include <functional>

#include "rewriters/diagnostics/diagnostics.h"
#include "rewriters/passes/choice.h"

namespace hvdize::tool {

const char* const kHelp =
    R"(hvdize: writes the distributed data-parallel form of a sequential training program.

usage: hvdize IN.cpp -o OUT.cpp [options] [-- compiler flags]
       hvdize SRC... --out-root DIR | --in-place | --diff | --check [-p BUILD] [options] [-- compiler flags]

Several sources, one of them with `main`, are one program: they are analysed together. Headers of the author's that change are written
beside the output.

where the result goes
  -o FILE               write it to FILE ('-': standard output)
  --out-root DIR        write each source, and each header that changes, below DIR, at its path from the current folder
  --units DIR           write what a compiler reads, with the author's lines (#line), below DIR; hvdize-c++ does that
  --in-place            replace the sources; what was there is kept beside them as FILE.hvdize-orig (--no-backup: it is not)
  --undo                take back --in-place for the sources that are named, and the headers that changed with them
  --diff                print a unified diff on standard output
  --check               write nothing; say whether the sources can be rewritten
  -p BUILD              take compiler flags from BUILD/compile_commands.json

policy (each can be overridden when the program runs: HVD_BATCH, HVD_LR_SCALING, HVD_WARMUP, HVD_STEPS)
  --batch=per-rank|global             batch sizes in the source are per rank (default) or for all ranks
  --lr-scaling=auto|linear|sqrt|none  how the learning rate grows with the global batch
  --warmup=STEPS|Ne                   from the unscaled to the scaled rate in STEPS steps, or N epochs
  --steps=keep|divide                 literal numbers of steps stay, or are divided by the number of ranks
  --sync-bn                           batch norm over the global batch
  --evaluation=sharded|whole          evaluation loops are shared out where that is safe (default), or every rank runs them whole

diagnostics
  --assume=ID[,ID]      confirm assumptions, by ID or by name
  --strict              refuse assumptions that are not confirmed
  --report=FILE         what was recognised, changed and refused: FILE.json for programs, FILE.sarif for editors and code hosts,
                        FILE.html for people (or json:FILE, sarif:FILE, html:FILE); may be given several times
  --explain ID          print the page of a diagnostic
  --passes=LIST         leave out transformations of this list, each with a minus in front; what is then not kept is a warning
  --list-passes         print the transformations, in the order in which they run
  --quiet               warnings and errors only
  --silent              print nothing; the exit status says it, for example with --check
  --verbose             how the headers were read, too

  --no-cache            read headers as text; otherwise they are precompiled once and kept (HVDIZE_CACHE=FOLDER|off)
  --dialect=NAME|FILE   the framework: a built-in table (core, torch) or a YAML file; chosen by the included headers otherwise
  --depfile=FILE        write the files that the output depends on, for make and ninja
  --print-model         print what was recognised, and stop
  --dump-diagnostics-docs DIR         write one page for each diagnostic
  --version, --help

exit status: 0 written, or nothing to do; 1 refused; 2 wrong usage, or a file cannot be read or written;
3 the input does not compile
)";

namespace {

class Parser {
 public:
  Parser(const std::vector<std::string>& argv, std::string* error) : argv_(argv), error_(error) {}

  std::optional<Arguments> run() {
    for (i_ = 0; i_ < argv_.size(); ++i_) {
      const llvm::StringRef arg = argv_[i_];
      if (arg == "--") {
        a_.compilerFlags.emplace(argv_.begin() + static_cast<std::ptrdiff_t>(i_) + 1, argv_.end());
        break;
      }
      const bool ok = arg.starts_with("-") && arg != "-" ? option(arg) : (a_.sources.push_back(arg.str()), true);
      if (!ok) return std::nullopt;
    }
    if (!consistent()) return std::nullopt;
    return std::move(a_);
  }

 private:
  bool fail(const llvm::Twine& message) {
    *error_ = message.str();
    return false;
  }

  bool option(llvm::StringRef arg);
  bool flag(llvm::StringRef name);
  bool withValue(llvm::StringRef name, const std::string& value);
  bool action(llvm::StringRef name, const std::string& value);
  bool policy(llvm::StringRef name, llvm::StringRef value, bool& known);
  bool warmup(llvm::StringRef value);
  bool assume(llvm::StringRef value);
  bool passes(llvm::StringRef value);
  bool report(llvm::StringRef value);
  bool consistent();

  const std::vector<std::string>& argv_;
  std::string* error_;
  size_t i_ = 0;
  Arguments a_;
};

bool takesValue(llvm::StringRef name) {
  static constexpr llvm::StringLiteral names[] = {"-o",       "-p",       "--out-root", "--batch",   "--lr-scaling", "--warmup", "--evaluation",
                                                  "--steps",  "--units",  "--assume", "--report",   "--explain", "--dialect",    "--depfile",
                                                  "--dump-diagnostics-docs", "--passes"};
  return llvm::is_contained(names, name);
}

bool Parser::option(llvm::StringRef arg) {
  auto [name, value] = arg.split('=');
  const bool joined = name.size() < arg.size();
  if (!takesValue(name)) return joined ? fail("unknown option '" + name + "', or one without a value; see --help") : flag(name);
  std::string text = value.str();
  if (!joined) {
    if (i_ + 1 >= argv_.size() || argv_[i_ + 1] == "--") return fail("'" + name + "' needs a value; see --help");
    text = argv_[++i_];
  }
  if (text.empty()) return fail("'" + name + "' needs a value; see --help");
  return withValue(name, text);
}

bool Parser::flag(llvm::StringRef name) {
  using Action = Arguments::Action;
  if (name == "--in-place") a_.inPlace = true;
  else if (name == "--diff") a_.diff = true;
  else if (name == "--check") a_.check = true;
  else if (name == "--sync-bn") a_.rewrite.syncBatchNorm = true;
  else if (name == "--strict") a_.rewrite.strict = true;
  else if (name == "--quiet" || name == "-q") a_.quiet = true;
  else if (name == "--verbose") a_.verbose = true;
  else if (name == "--silent") a_.silent = a_.quiet = true;
  else if (name == "--no-backup") a_.backup = false;
  else if (name == "--undo") a_.action = Action::Undo;
  else if (name == "--list-passes") a_.action = Action::ListPasses;
  else if (name == "--no-cache") a_.cache = false;
  else if (name == "--print-model") a_.rewrite.printModel = true;
  else if (name == "--no-verify") a_.rewrite.verify = false;
  else if (name == "--full-parse") a_.rewrite.skipBodies = false;
  else if (name == "--version") a_.action = Action::Version;
  else if (name == "--help" || name == "-h") a_.action = Action::Help;
  else return fail("unknown option '" + name + "'; see --help");
  return true;
}

bool Parser::withValue(llvm::StringRef name, const std::string& value) {
  if (name == "-o") a_.output = value;
  else if (name == "-p") a_.database = value;
  else if (name == "--out-root") a_.outputRoot = value;
  else if (name == "--units") a_.units = value;
  else if (name == "--report") return report(value);
  else if (name == "--dialect") a_.dialect = value;
  else if (name == "--depfile") a_.depfile = value;
  else if (name == "--assume") return assume(value);
  else if (name == "--passes") return passes(value);
  else if (name == "--explain") return action(name, value);
  else if (name == "--dump-diagnostics-docs") return action(name, value);
  else {
    bool known = false;
    return policy(name, value, known) || (!known && fail("unknown option '" + name + "'; see --help"));
  }
  return true;
}

bool Parser::action(llvm::StringRef name, const std::string& value) {
  a_.action = name == "--explain" ? Arguments::Action::Explain : Arguments::Action::DumpDocs;
  a_.actionArgument = value;
  return true;
}

template <typename T>
bool choose(llvm::StringRef value, T& field, std::initializer_list<std::pair<llvm::StringRef, T>> choices) {
  for (const auto& [word, meaning] : choices) {
    if (value != word) continue;
    field = meaning;
    return true;
  }
  return false;
}

bool Parser::policy(llvm::StringRef name, llvm::StringRef value, bool& known) {
  RewriteOptions& o = a_.rewrite;
  known = true;
  if (name == "--warmup") return warmup(value);
  if (name == "--batch")
    return o.batchAsked = true, choose(value, o.batch, {{"per-rank", BatchPolicy::PerRank}, {"global", BatchPolicy::Global}}) ||
           fail("--batch: per-rank or global expected, not '" + value + "'");
  if (name == "--steps")
    return choose(value, o.steps, {{"keep", StepPolicy::Keep}, {"divide", StepPolicy::Divide}}) ||
           fail("--steps: keep or divide expected, not '" + value + "'");
  if (name == "--evaluation")
    return choose(value, o.evaluation, {{"sharded", EvaluationPolicy::Sharded}, {"whole", EvaluationPolicy::Whole}}) ||
           fail("--evaluation: sharded or whole expected, not '" + value + "'");
  if (name == "--lr-scaling")
    return choose(value, o.lrScaling,
                  {{"auto", LrScaling::Auto}, {"linear", LrScaling::Linear}, {"sqrt", LrScaling::Sqrt}, {"none", LrScaling::None}}) ||
           fail("--lr-scaling: auto, linear, sqrt or none expected, not '" + value + "'");
  known = false;
  return false;
}

bool Parser::warmup(llvm::StringRef value) {
  llvm::StringRef digits = value;
  const bool epochs = digits.consume_back("e");
  int64_t number = 0;
  if (digits.getAsInteger(10, number) || number < 0)
    return fail("--warmup: a number of steps (500) or of epochs (2e) expected, not '" + value + "'");
  a_.rewrite.warmup = epochs ? Warmup{0, number} : Warmup{number, 0};
  return true;
}

bool Parser::assume(llvm::StringRef value) {
  llvm::SmallVector<llvm::StringRef, 4> words;
  value.split(words, ',', -1, /*KeepEmpty=*/false);
  std::vector<std::string> given;
  for (llvm::StringRef word : words) given.push_back(word.trim().str());
  const std::vector<std::string> unknown = DiagEngine::unknownAssumptions(given);
  a_.rewrite.assume.insert(a_.rewrite.assume.end(), given.begin(), given.end());
  if (unknown.empty()) return true;
  std::string known;
  for (const DiagInfo& row : allDiagnostics())
    if (row.isAssumption()) known += " " + idString(row.id) + " (" + std::string(row.assume) + ")";
  return fail("--assume: '" + unknown.front() + "' is no assumption; there are" + known);
}

bool Parser::passes(llvm::StringRef value) {
  const auto off = passesLeftOut(value, error_);
  if (off) a_.rewrite.passesOff = *off;
  return off.has_value();
}

/// FORM:FILE, or a file whose ending names the form.
bool Parser::report(llvm::StringRef value) {
  auto [form, file] = value.split(':');
  const auto known = [](llvm::StringRef name) { return name == "json" || name == "sarif" || name == "html"; };
  if (!known(form)) {
    // A word in front of a colon would be a form, not a part of a file's name.
    if (!form.empty() && !file.empty() && llvm::all_of(form, llvm::isAlpha)) return fail("--report: '" + form + "' is no form of a report; there are json, sarif and html");
    file = value;
    form = llvm::sys::path::extension(value).drop_front(llvm::sys::path::has_extension(value) ? 1 : 0);
    if (!known(form))
      return fail("--report: the form of '" + value + "' is not known: say FILE.json, FILE.sarif or FILE.html, or json:FILE, sarif:FILE, html:FILE");
  }
  if (file.empty()) return fail("--report: a file expected in '" + value + "'");
  a_.reports.push_back({form.str(), file.str()});
  return true;
}

bool Parser::consistent() {
  if (a_.action == Arguments::Action::Undo && a_.sources.empty()) return fail("--undo: say which source's rewriting to undo");
  if (a_.action != Arguments::Action::Rewrite) return true;
  if (a_.sources.empty()) return fail("no source file given; see --help");
  if (!a_.output.empty() && a_.sources.size() > 1) return fail("-o takes one source file; use --out-root for several");
  if (!a_.database.empty() && a_.compilerFlags) return fail("-p and '--' exclude each other: both give compiler flags");
  const int places = !a_.output.empty() + !a_.outputRoot.empty() + !a_.units.empty() + a_.inPlace;
  if (places > 1) return fail("-o, --out-root, --units and --in-place exclude each other");
  if (places && a_.check) return fail("--check writes nothing: it excludes -o, --out-root, --units and --in-place");
  if (!places && !a_.diff && !a_.check && !a_.rewrite.printModel)
    return fail("say where the result goes: -o FILE, --out-root DIR, --in-place, --diff or --check");
  if (a_.rewrite.strict && !a_.rewrite.passesOff.empty()) return fail("--strict and --passes exclude each other: without '" + a_.rewrite.passesOff.front() + "' not all is kept");
  if (a_.inPlace && a_.diff) return fail("--in-place and --diff exclude each other: --diff shows what --in-place would change");
  if (!a_.units.empty() && a_.diff) return fail("--units and --diff exclude each other");
  if (!a_.depfile.empty() && a_.output.empty() && a_.outputRoot.empty()) return fail("--depfile needs -o or --out-root");
  return true;
}

}  // namespace

std::optional<Arguments> parseArguments(const std::vector<std::string>& argv, std::string* error) { return Parser(argv, error).run(); }

}  // namespace hvdize::tool
