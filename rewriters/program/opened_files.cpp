// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/opened_files.h"

#include "clang/AST/DeclTemplate.h"

#include "rewriters/program/host.h"
#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

namespace {

bool isFile(QualType t) { return isOutputFile(t) || isInputFile(t); }

bool isBothWays(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  return r && r->getName() == "basic_fstream";
}

// std::optional<std::ofstream>, std::unique_ptr<std::ofstream>, std::vector<std::ofstream>, std::map<int, std::ofstream>: the stream.
QualType heldFile(QualType t) {
  t = t.getNonReferenceType();
  const auto* s = dyn_cast_or_null<ClassTemplateSpecializationDecl>(t->getAsCXXRecordDecl());
  if (!s || !s->isInStdNamespace() || isFile(t)) return {};
  for (const TemplateArgument& a : s->getTemplateArgs().asArray())
    if (a.getKind() == TemplateArgument::Type && isFile(a.getAsType())) return a.getAsType();
  return {};
}

// A path is a text or a std::filesystem::path; keys of maps and std::in_place are not told apart from it otherwise than by their place.
bool mayBePath(const Expr* e) {
  QualType t = strip(e)->getType().getNonReferenceType();
  if (t->isArrayType() || t->isPointerType()) {
    const QualType element = t->isPointerType() ? t->getPointeeType() : QualType(t->getArrayElementTypeNoTypeQual(), 0);
    return element->isCharType();
  }
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  return r && r->getDeclName().isIdentifier() && (r->getName() == "basic_string" || r->getName() == "path");
}

// The last argument that may be a path: behind a key, before a mode.
const Expr* pathAmong(llvm::ArrayRef<const Expr*> arguments) {
  const Expr* path = nullptr;
  for (const Expr* a : arguments)
    if (mayBePath(a)) path = a;
  return path;
}

// What std::ios::openmode says: in, out, app, trunc.
void readMode(const Expr* mode, bool& in, bool& out) {
  forEachExpr(mode, [&](const Expr* x) {
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
    if (!d || !d->getDeclName().isIdentifier()) return;
    const llvm::StringRef name = d->getName();
    in = in || name == "in" || name == "_S_in";
    out = out || name == "out" || name == "app" || name == "trunc" || name == "_S_out" || name == "_S_app" || name == "_S_trunc";
  });
}

// What is done with the variable that the stream lives in.
void readUses(const ValueDecl* d, const Definitions& definitions, bool& in, bool& out) {
  const AuthorCode& code = definitions.code();
  for (const Expr* use : definitions.uses(d)) {
    const Stmt* below = use;
    for (const Stmt* p = code.parent(use); p; below = p, p = code.parent(p)) {
      if (isa<ImplicitCastExpr, ParenExpr>(p)) continue;
      if (const auto* o = dyn_cast<CXXOperatorCallExpr>(p)) {
        if (o->getArg(0) != below) break;
        in = in || o->getOperator() == OO_GreaterGreater;
        out = out || o->getOperator() == OO_LessLess;
        break;
      }
      if (const auto* m = dyn_cast<MemberExpr>(p)) {
        const std::string name = m->getMemberDecl()->getNameAsString();
        in = in || name == "read" || name == "get" || name == "getline" || name == "peek" || name == "ignore" || name == "readsome";
        out = out || name == "write" || name == "put";
        break;
      }
      const auto* call = dyn_cast<CallExpr>(p);
      in = in || (call && calleeOf(call) && isSystemDecl(calleeOf(call)) && calleeOf(call)->getNameAsString() == "getline");
      break;
    }
  }
}

const ValueDecl* variableOf(const Expr* construct, const Definitions& definitions) {
  const Stmt* p = definitions.code().parent(construct);
  while (p && isa<Expr>(p) && !isa<CallExpr, CXXConstructExpr>(p)) p = definitions.code().parent(p);
  if (const auto* ds = dyn_cast_or_null<DeclStmt>(p); ds && ds->isSingleDecl()) return dyn_cast<VarDecl>(ds->getSingleDecl());
  return nullptr;
}

OpenedFile judged(QualType stream, const Expr* path, llvm::ArrayRef<const Expr*> arguments, const ValueDecl* variable, const Definitions& definitions) {
  bool exclusive = false;  // std::ios::noreplace
  for (const Expr* a : arguments)
    forEachExpr(a, [&](const Expr* x) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
      exclusive = exclusive || (d && d->getDeclName().isIdentifier() && (d->getName() == "noreplace" || d->getName() == "__noreplace"));
    });
  if (!isBothWays(stream)) return {path, isInputFile(stream), isOutputFile(stream), exclusive};
  bool in = false, out = false;
  for (const Expr* a : arguments)
    if (a != path) readMode(a, in, out);
  if ((in == out) && variable) {
    bool reads = false, writes = false;
    readUses(variable, definitions, reads, writes);
    if (reads || writes) in = reads, out = writes;
  }
  return {path, in, out || !in, exclusive};
}

// open(path, O_WRONLY | O_CREAT, 0644): the flags say it. Locks are of each process; a file that must not exist cannot be /dev/null.
std::optional<OpenedFile> openedDescriptor(const FunctionDecl* f, llvm::ArrayRef<const Expr*> arguments) {
  if (f->getName() == "creat") return OpenedFile{arguments[0], false, true};
  if (arguments.size() < 2) return std::nullopt;
  Expr::EvalResult flags;
  if (arguments[1]->isValueDependent() || !arguments[1]->EvaluateAsInt(flags, f->getASTContext())) return OpenedFile{arguments[0], true, true};
  constexpr int64_t kAccess = 3, kReadOnly = 0, kWriteOnly = 1, kExclusive = 0200;  // O_ACCMODE, O_RDONLY, O_WRONLY, O_EXCL of Linux
  const int64_t bits = flags.Val.getInt().getExtValue();
  return OpenedFile{arguments[0], (bits & kAccess) != kWriteOnly, (bits & kAccess) != kReadOnly, (bits & kExclusive) != 0};
}

// fopen(path, mode): the mode may be handed in by callers, `open_or_die("weights.bin", "rb")`. Where some read and others write, it is asked when run.
OpenedFile openedByMode(const Expr* path, const Expr* mode, const Definitions& definitions) {
  OpenedFile out{path, false, false};
  bool both = false, unknown = false;  // "r+"; no text
  for (const Expr* o : definitions.origins(mode)) {
    const auto* text = dyn_cast_or_null<StringLiteral>(strip(o));
    const llvm::StringRef says = text ? text->getString() : "";
    const bool writes = says.find_first_of("wa+") != llvm::StringRef::npos, reads = says.starts_with("r");
    unknown = unknown || !text;
    both = both || (reads && writes);
    out.reads = out.reads || reads;
    out.writes = out.writes || writes;
    out.exclusive = out.exclusive || says.contains('x');
  }
  if (unknown || (!out.reads && !out.writes)) out.reads = out.writes = true;
  if (out.reads && out.writes && !both) out.mode = mode;
  return out;
}

}  // namespace

std::optional<OpenedFile> openedFile(const Expr* e, const Definitions& definitions) {
  const FunctionDecl* f = calleeOf(e);
  if (!f) return std::nullopt;
  const auto arguments = argumentsOf(e);
  if (arguments.empty()) return std::nullopt;
  if (const auto* k = dyn_cast<CXXConstructExpr>(e)) {
    if (k->getConstructor()->isCopyOrMoveConstructor()) return std::nullopt;
    if (isFile(e->getType())) return judged(e->getType(), arguments[0], arguments, variableOf(e, definitions), definitions);
    const QualType held = heldFile(e->getType());  // std::optional<std::ofstream>(std::in_place, path)
    const Expr* path = held.isNull() || arguments.size() < 2 ? nullptr : pathAmong(arguments);
    return path ? std::optional(judged(held, path, arguments, variableOf(e, definitions), definitions)) : std::nullopt;
  }
  const bool named = f->getDeclName().isIdentifier();
  const Expr* object = objectOf(e);
  if (object && named && f->getName() == "open" && isFile(object->getType()))
    return judged(object->getType(), arguments[0], arguments, rootOf(object), definitions);
  const bool places = named && (f->getName().starts_with("emplace") || f->getName() == "try_emplace");
  const bool makes = named && !object && (f->getName().starts_with("make_") || f->getName() == "allocate_shared");
  const QualType held = !isSystemDecl(f) ? QualType() : object && places ? heldFile(object->getType()) : makes ? heldFile(e->getType()) : QualType();
  if (const Expr* path = held.isNull() ? nullptr : pathAmong(arguments)) return judged(held, path, arguments, object ? rootOf(object) : nullptr, definitions);
  if (hostRole(f) == HostRole::OpenFile && f->getReturnType()->isIntegerType()) return openedDescriptor(f, arguments);
  if (hostRole(f) == HostRole::OpenFile && arguments.size() >= 2) return openedByMode(arguments[0], arguments[1], definitions);
  return std::nullopt;
}

}  // namespace hvdize
