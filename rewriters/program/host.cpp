// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/host.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/author.h"

using namespace clang;

namespace hvdize {

namespace {

HostRole byName(llvm::StringRef n) {
  // The file system before C++17: std::experimental::filesystem::v1::exists, boost::filesystem::exists.
  std::string files;
  if (llvm::StringRef rest = n; (rest.consume_front("std::experimental::") || rest.consume_front("boost::") || rest.consume_front("ghc::")) && rest.consume_front("filesystem::")) {
    rest.consume_front("v1::");
    files = ("filesystem::" + rest).str();
    n = files;
  }
  n.consume_front("std::");
  return llvm::StringSwitch<HostRole>(n)
      .Cases("move", "forward", "get", "make_pair", "make_tuple", "tie", "ref", "cref", "as_const", HostRole::Forward)
      .Cases("make_unique", "make_shared", "make_optional", "addressof", "exchange", HostRole::Forward)
      .Cases("static_pointer_cast", "dynamic_pointer_cast", HostRole::Forward)
      .Cases("printf", "puts", "putchar", "vprintf", "print", "println", "perror", HostRole::Print)
      .Cases("wprintf", "vwprintf", "putwchar", "putchar_unlocked", HostRole::Print)
      .Cases("syslog", "vsyslog", HostRole::Print)
      .Cases("fprintf", "fputs", "fputc", "fwrite", "putc", "vfprintf", "fflush", HostRole::PrintTo)
      .Cases("write", "dprintf", "vdprintf", "fwprintf", "fputws", HostRole::PrintTo)
      .Cases("fopen", "freopen", "open", "creat", HostRole::OpenFile)
      .Cases("filesystem::create_directory", "filesystem::create_directories", "filesystem::remove", "filesystem::remove_all",
             "filesystem::rename", "filesystem::copy", "filesystem::copy_file", "filesystem::resize_file", HostRole::FileChange)
      .Cases("filesystem::create_hard_link", "filesystem::create_directory_symlink", "filesystem::copy_symlink", "filesystem::permissions", HostRole::FileChange)
      .Cases("link", "truncate", "chmod", HostRole::FileChange)
      .Cases("remove", "rename", "mkdir", "rmdir", "unlink", "symlink", "filesystem::create_symlink", HostRole::FileChange)
      .Cases("filesystem::exists", "filesystem::is_regular_file", "filesystem::is_directory", "filesystem::file_size",
             "filesystem::last_write_time", "filesystem::is_empty", "access", "stat", "filesystem::status", HostRole::FileTest)
      .Cases("filesystem::symlink_status", "filesystem::is_symlink", "filesystem::read_symlink", "filesystem::space", "lstat", HostRole::FileTest)
      .Cases("scanf", "vscanf", "getchar", "getchar_unlocked", "gets", "wscanf", "getwchar", HostRole::ReadInput)
      .Cases("time", "clock", "gettimeofday", "clock_gettime", "chrono::system_clock::now", "chrono::steady_clock::now",
             "chrono::high_resolution_clock::now", "chrono::_V2::system_clock::now", "chrono::_V2::steady_clock::now", "timespec_get",
             HostRole::Clock)
      .Cases("times", "getrusage", "omp_get_wtime", "MPI_Wtime", "chrono::utc_clock::now", "filesystem::__file_clock::now", HostRole::Clock)
      .Cases("random_device::operator()", "arc4random", "getrandom", "getentropy", HostRole::Entropy)
      .Cases("__basic_future::wait_for", "__basic_future::wait_until", "mutex::try_lock", "condition_variable::wait_for", HostRole::Clock)
      .Cases("getpid", "gethostname", "this_thread::get_id", HostRole::Identity)
      .Cases("srand", "srandom", "srand48", HostRole::SeedC)
      .Cases("rand", "random", "drand48", HostRole::DrawsC)
      .Cases("exit", "abort", "_Exit", "quick_exit", "terminate", HostRole::Exit)
      .Case("system", HostRole::Shell)
      .Case("popen", HostRole::OpenPipe)
      .Default(HostRole::None);
}

bool isPureHeaderFunction(llvm::StringRef n) {
  static const char* const kPure[] = {
      "min", "max", "abs", "fabs", "sqrt", "exp", "log", "log10", "log2", "pow", "floor", "ceil", "round", "isnan", "isinf", "isfinite",
      "sin", "cos", "tanh", "fmod", "to_string", "stoi", "stol", "stoul", "stoll", "stoull", "stod", "stof", "atoi", "atof", "atol", "strtol", "strtod",
      "strcmp", "strlen", "size", "begin", "end", "data", "distance", "next", "prev", "clamp", "lround", "setprecision", "setw", "setfill",
      "fixed", "scientific", "duration_cast", "chrono::duration_cast", "getenv", "endl", "flush", "left", "right", "hex", "dec", "boolalpha",
      "numeric_limits::max", "numeric_limits::min", "numeric_limits::lowest", "numeric_limits::infinity", "count", "back_inserter", "quoted"};
  n.consume_front("std::");
  for (const char* p : kPure)
    if (n == p) return true;
  return n.starts_with("chrono::");
}

const CXXRecordDecl* record(QualType t) {
  t = t.getNonReferenceType();
  if (t->isPointerType()) t = t->getPointeeType();
  return t->getAsCXXRecordDecl();
}

bool named(QualType t, std::initializer_list<llvm::StringRef> names) {
  const CXXRecordDecl* r = record(t);
  if (!r || !r->isInStdNamespace()) return false;
  for (llvm::StringRef n : names)
    if (r->getName() == n) return true;
  return false;
}

// OpenCV's headers need not be the system's.
HostRole ofPictures(const FunctionDecl* f) {
  const auto* space = dyn_cast<NamespaceDecl>(f->getDeclContext()->getRedeclContext());
  if (!space || space->getName() != "cv" || !f->getDeclName().isIdentifier()) return HostRole::None;
  return llvm::StringSwitch<HostRole>(f->getName())
      .Cases("imwrite", "imwritemulti", HostRole::PictureWrite)
      .Cases("imread", "imreadmulti", HostRole::PictureRead)
      .Default(HostRole::None);
}

// What prints through a library for text or for logs, whose headers need not be the system's either. Given a file or a stream it writes there.
HostRole ofText(const FunctionDecl* f) {
  if (!f->getDeclName().isIdentifier()) return HostRole::None;
  const std::string qualified = qualifiedName(f);
  llvm::StringRef name = qualified;
  const bool prints = name == "fmt::print" || name == "fmt::println" || name == "std::print" || name == "std::println";
  bool logs = name.consume_front("spdlog::");
  if (logs && llvm::StringSwitch<bool>(name).Cases("default_logger", "default_logger_raw", "get", true).Default(false)) return HostRole::Pure;
  (void)name.consume_front("logger::");
  logs = logs && llvm::StringSwitch<bool>(name).Cases("trace", "debug", "info", "warn", "error", "critical", "log", true).Default(false);
  if (!prints && !logs) return HostRole::None;
  const QualType first = prints && f->getNumParams() > 0 ? f->getParamDecl(0)->getType().getNonReferenceType() : QualType();
  const CXXRecordDecl* r = first.isNull() ? nullptr : first->getAsCXXRecordDecl();
  const bool elsewhere = !first.isNull() && ((first->isPointerType() && !first->getPointeeType()->isCharType()) || (r && r->getName() == "basic_ostream"));
  return elsewhere ? HostRole::PrintTo : HostRole::Print;
}

}  // namespace

HostRole hostRole(const FunctionDecl* f) {
  if (!f) return HostRole::None;
  if (const HostRole r = ofText(f); r != HostRole::None) return r;
  if (const HostRole r = ofPictures(f); r != HostRole::None) return r;
  if (!isSystemDecl(f)) return HostRole::None;
  if (!f->getDeclName().isIdentifier() && !isa<CXXMethodDecl>(f)) return HostRole::None;
  const std::string name = qualifiedName(f);
  const HostRole r = byName(name);
  // std::remove(begin, end, value), std::move(begin, end, to): algorithms that share their names with other functions.
  if (f->isTemplateInstantiation() && f->getNumParams() == 3 && (f->getName() == "remove" || f->getName() == "move")) return HostRole::None;
  if (r != HostRole::None) return r;
  return isPureHeaderFunction(name) ? HostRole::Pure : HostRole::None;
}

bool hasNoAddress(const FunctionDecl* f) { return f && (f->isTemplateInstantiation() || isa<CXXMethodDecl>(f)); }

bool communicates(const FunctionDecl* f) {
  if (!f || !f->getDeclName().isIdentifier()) return false;
  const std::string qualified = f->getQualifiedNameAsString();
  const llvm::StringRef name = qualified;
  if (name.starts_with("gloo::") || name.starts_with("boost::mpi::")) return true;
  // A clock is no communication.
  if (name.starts_with("MPI_")) return name != "MPI_Wtime";
  return name.starts_with("nccl") && name.size() > 4 && llvm::isUpper(name[4]);
}

unsigned hostPathArgument(const FunctionDecl*) { return 0; }

bool isConsoleStream(const ValueDecl* v) {
  if (!v || !isSystemDecl(v) || !v->getDeclName().isIdentifier()) return false;
  return llvm::StringSwitch<bool>(v->getName())
      .Cases("cout", "cerr", "clog", "wcout", "wcerr", "wclog", true)
      .Cases("stdout", "stderr", true)
      .Default(false);
}

bool isConsoleInput(const ValueDecl* v) {
  if (!v || !isSystemDecl(v) || !v->getDeclName().isIdentifier()) return false;
  return llvm::StringSwitch<bool>(v->getName()).Cases("cin", "wcin", "stdin", true).Default(false);
}

bool isOutputFile(QualType t) { return named(t, {"basic_ofstream", "basic_fstream"}); }
bool isInputFile(QualType t) { return named(t, {"basic_ifstream"}); }
bool isRandomDevice(QualType t) { return named(t, {"random_device"}); }
bool isStdFunction(QualType t) {
  if (named(t, {"function"})) return true;
  // A class that is one, with something more.
  const CXXRecordDecl* r = record(t);
  return r && r->hasDefinition() && !r->isDependentContext() && llvm::any_of(r->bases(), [](const CXXBaseSpecifier& b) { return isStdFunction(b.getType()); });
}

bool isRandomEngine(QualType t) {
  return named(t, {"mersenne_twister_engine", "linear_congruential_engine", "subtract_with_carry_engine", "discard_block_engine",
                   "shuffle_order_engine", "independent_bits_engine"});
}

bool isDistribution(QualType t) {
  const CXXRecordDecl* r = record(t);
  return r && r->isInStdNamespace() && r->getName().ends_with("_distribution");
}

bool isSystemDecl(const Decl* d) {
  if (!d) return false;
  if (d->isInStdNamespace()) return true;
  const SourceManager& sm = d->getASTContext().getSourceManager();
  const SourceLocation loc = d->getLocation();
  return loc.isInvalid() || sm.isInSystemHeader(sm.getExpansionLoc(loc));
}

bool isStdRecord(QualType t) {
  const CXXRecordDecl* r = record(t);
  return r && r->isInStdNamespace();
}

bool isText(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  return r && r->isInStdNamespace() && r->getIdentifier() && (r->getName() == "basic_string" || r->getName() == "basic_string_view");
}

bool isCharacters(QualType t) {
  t = t.getNonReferenceType();
  return t->isPointerType() && t->getPointeeType()->isAnyCharacterType();
}

bool mayHoldNothing(QualType t) {
  const CXXRecordDecl* r = record(t.getNonReferenceType());
  return r && r->isInStdNamespace() && r->getIdentifier() && llvm::is_contained({"optional", "unique_ptr", "shared_ptr"}, r->getName());
}

const Expr* askedWhetherHeld(const Expr* call) {
  const FunctionDecl* f = calleeOf(call);
  if (!f || !isSystemDecl(f)) return nullptr;
  const Expr* object = objectOf(call);
  if (calleeName(call) == "has_value" && object && mayHoldNothing(object->getType())) return object;
  const auto* o = dyn_cast<CXXOperatorCallExpr>(call);
  if (!o || o->getNumArgs() != 2 || (o->getOperator() != OO_EqualEqual && o->getOperator() != OO_ExclaimEqual)) return nullptr;
  const auto isNothing = [](const Expr* e) {
    const CXXRecordDecl* r = record(strip(e)->getType());
    return strip(e)->getType()->isNullPtrType() || (r && r->isInStdNamespace() && r->getIdentifier() && r->getName() == "nullopt_t");
  };
  for (unsigned i = 0; i < 2; ++i)
    if (isNothing(o->getArg(i)) && mayHoldNothing(o->getArg(1 - i)->getType())) return o->getArg(1 - i);
  return nullptr;
}

bool addsItem(StringRef method) {
  return llvm::is_contained({"push_back", "emplace_back", "push_front", "emplace_front", "push", "insert", "emplace", "try_emplace", "insert_or_assign"}, method);
}

// A call that nobody but the library sees the body of: may it change the object, or what its arguments refer to?
bool mayChange(const FunctionDecl* f) {
  if (!f || isa<CXXConstructorDecl>(f)) return false;
  const CXXRecordDecl* of = isa<CXXMethodDecl>(f) ? cast<CXXMethodDecl>(f)->getParent() : nullptr;
  const llvm::StringRef method = of && f->getDeclName().isIdentifier() ? f->getName() : "";
  // What a function that is put off does, it does when it is asked for.
  if (of && of->isInStdNamespace() && (of->getName().ends_with("future") || of->getName() == "coroutine_handle"))
    return llvm::is_contained({"get", "wait", "wait_for", "wait_until", "resume", "destroy"}, method) || f->getOverloadedOperator() == OO_Call;
  if (of && of->isInStdNamespace() && of->getName() == "basic_istream") return !llvm::is_contained({"gcount", "peek", "tellg"}, method);
  if (of && of->isInStdNamespace() && of->getName().contains("stream")) return false;
  const OverloadedOperatorKind op = f->getOverloadedOperator();
  if (const auto* m = dyn_cast<CXXMethodDecl>(f)) {
    if (m->isStatic() || isa<CXXConversionDecl>(m)) return false;
    if (m->isConst() && op == OO_Call) return of->isInStdNamespace() && !of->isEmpty();  // std::function, std::ref(f): what it holds is not known
    // An item of a view is computed when it is asked for.
    const auto* around = dyn_cast<CXXRecordDecl>(of->getDeclContext());
    if (op == OO_Star && around && around->getIdentifier() && around->getName().ends_with("_view")) return true;
    if (m->isConst()) return false;
    if (op == OO_Subscript) return of->getName() == "map" || of->getName() == "unordered_map";         // puts in what is not there
    if (op == OO_Star || op == OO_Arrow) return false;
    return op != OO_None || !llvm::StringSwitch<bool>(m->getDeclName().isIdentifier() ? m->getName() : "")
                                 .Cases("at", "begin", "end", "data", "front", "back", "get", "value", "rbegin", "rend", true)
                                 .Default(false);
  }
  const HostRole role = hostRole(f);
  const llvm::StringRef name = f->getDeclName().isIdentifier() ? f->getName() : "";
  if (role == HostRole::Forward) return name == "exchange";
  // They take what they show by forwarding references.
  if (role != HostRole::None || name == "get_if" || name == "format" || name == "vformat" || name == "styled" || name == "join" || name == "make_format_args") return false;
  if (f->getReturnType()->isVoidType()) return true;
  // Algorithms that move what their iterators point to.
  if (llvm::StringSwitch<bool>(name)
          .Cases("unique", "remove", "remove_if", "partition", "stable_partition", "rotate", "next_permutation", "prev_permutation", "copy", "copy_n", true)
          .Cases("copy_if", "transform", "partial_sum", "inclusive_scan", "exclusive_scan", "adjacent_difference", "generate_n", "fill_n", "merge", "sample", true)
          .Default(false))
    return true;
  return llvm::any_of(f->parameters(), [](const ParmVarDecl* p) {
    const QualType t = p->getType();
    if (!t->isLValueReferenceType() && !t->isPointerType()) return false;
    const CXXRecordDecl* r = t->getPointeeType()->getAsCXXRecordDecl();
    const bool stream = r && r->isInStdNamespace() && (r->getName().contains("stream") || r->getName() == "ios_base");
    return !stream && !t->getPointeeType().isConstQualified() && !t->isFunctionPointerType() && !t->getPointeeType()->isFunctionType();
  });
}

const Expr* askedForPresence(const Expr* e) {
  for (;;) {
    const auto* c = dyn_cast<ImplicitCastExpr>(e);
    if (c && c->getCastKind() == CK_PointerToBoolean) return c->getSubExpr();
    if (c) e = c->getSubExpr();
    else if (const auto* p = dyn_cast<ParenExpr>(e)) e = p->getSubExpr();
    else if (const auto* f = dyn_cast<FullExpr>(e)) e = f->getSubExpr();
    else break;
  }
  const auto isNull = [](const Expr* x) { return isa<CXXNullPtrLiteralExpr, GNUNullExpr>(x->IgnoreParenImpCasts()); };
  if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->isEqualityOp() && isNull(b->getLHS()) != isNull(b->getRHS()))
    return isNull(b->getLHS()) ? b->getRHS() : b->getLHS();
  const auto* call = dyn_cast<CXXMemberCallExpr>(e);
  if (!call || !call->getType()->isBooleanType() || call->getNumArgs() > 0 || !call->getMethodDecl()) return nullptr;
  const DeclarationName name = call->getMethodDecl()->getDeclName();
  return isa<CXXConversionDecl>(call->getMethodDecl()) || (name.isIdentifier() && call->getMethodDecl()->getName() == "has_value") ? call->getImplicitObjectArgument() : nullptr;
}

}  // namespace hvdize
