// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/restored.h"

#include <set>
#include <string>

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/opened_files.h"

using namespace clang;

namespace hvdize {

namespace {

using Decls = llvm::DenseSet<const ValueDecl*>;
using Paths = std::set<std::string>;

class StateFiles {
 public:
  explicit StateFiles(const Model& m) : m_(m) {
    for (const Root& r : m.code.roots())
      forEachExpr(r.code, [&](const Expr* e) { open(e); });
    for (const Root& r : m.code.roots())
      forEachExpr(r.code, [&](const Expr* e) { look(e); });
  }

  Decls restored() const {
    Decls out;
    for (const auto& [d, paths] : read_)
      for (const std::string& path : paths)
        if (const auto w = written_.find(path); w != written_.end() && (rates_.count(path) || comesTo(d, w->second))) add(d, out);
    return out;
  }

 private:
  // A path as it can be compared: the literals it may be, else its text.
  Paths pathsOf(const Expr* path) const {
    Paths out;
    for (const Expr* o : m_.definitions.origins(path)) {
      const auto* literal = dyn_cast<StringLiteral>(strip(o));
      out.insert(literal ? literal->getBytes().str() : m_.text(o));
    }
    return out;
  }

  void open(const Expr* e) {
    const auto file = openedFile(e, m_.definitions);
    if (!file) return;
    const Stmt* p = e;
    while (p && isa<Expr>(p) && !m_.code.variableInitialisedBy(p)) p = m_.code.parent(p);
    const ValueDecl* stream = p && isa<Expr>(p) ? m_.code.variableInitialisedBy(p) : nullptr;
    if (const Expr* object = stream ? nullptr : objectOf(e)) stream = rootOf(object);  // out.open(path)
    if (const auto* assign = dyn_cast_or_null<BinaryOperator>(stream ? nullptr : m_.code.parent(e)); assign && assign->isAssignmentOp()) stream = declOf(assign->getLHS());
    const Paths paths = pathsOf(file->path);
    if (stream) streams_[stream].insert(paths.begin(), paths.end());
  }

  // The files that a stream, `out` in `out << a << b`, may have open.
  Paths filesOf(const Expr* stream) const {
    stream = strip(stream);
    while (const auto* o = dyn_cast<CXXOperatorCallExpr>(stream)) {
      if (o->getOperator() != OO_LessLess && o->getOperator() != OO_GreaterGreater) break;
      stream = strip(o->getArg(0));
    }
    if (const auto file = openedFile(stream, m_.definitions)) return pathsOf(file->path);
    const ValueDecl* d = rootOf(stream);
    const auto known = d ? streams_.find(d) : streams_.end();
    return known == streams_.end() ? Paths() : known->second;
  }

  void look(const Expr* e) {
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    if (o && o->getNumArgs() == 2 && o->getOperator() == OO_GreaterGreater) return reads(o->getArg(1), filesOf(o->getArg(0)));
    if (o && o->getNumArgs() == 2 && o->getOperator() == OO_LessLess) return writes(o->getArg(1), filesOf(o->getArg(0)));
    const auto* call = dyn_cast<CallExpr>(e);
    const llvm::StringRef name = call && calleeOf(call) && isSystemDecl(calleeOf(call)) ? calleeName(call) : "";
    if ((name != "fscanf" && name != "fprintf") || call->getNumArgs() < 3) return;
    const Paths files = filesOf(call->getArg(0));
    for (unsigned i = 2; i < call->getNumArgs(); ++i)
      if (name == "fprintf") writes(call->getArg(i), files);
      else if (const auto* address = dyn_cast<UnaryOperator>(strip(call->getArg(i))); address && address->getOpcode() == UO_AddrOf) reads(address->getSubExpr(), files);
  }

  void reads(const Expr* target, const Paths& files) {
    const ValueDecl* d = declOf(target);
    if (d && !files.empty() && d->getType().getNonReferenceType()->isFloatingType()) read_[d].insert(files.begin(), files.end());
  }

  void writes(const Expr* value, const Paths& files) {
    for (const std::string& path : files) {
      forEachExpr(value, [&](const Expr* x) {
        if (const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr) written_[path].insert(d);
        if (calleeOf(x) && m_.context.dialect.is(x, Role::LrRead)) rates_.insert(path);
      });
      written_[path];
    }
  }

  // Is one of these the variable, or made from it?
  bool comesTo(const ValueDecl* d, const Decls& written) const {
    Decls seen(written.begin(), written.end());
    llvm::SmallVector<const ValueDecl*, 8> work(written.begin(), written.end());
    Decls wanted;
    add(d, wanted);
    while (!work.empty()) {
      const ValueDecl* w = work.pop_back_val();
      if (wanted.count(w)) return true;
      for (const Definition& def : m_.definitions.of(w))
        if (def.value && !def.compound)
          forEachExpr(def.value, [&](const Expr* x) {
            const ValueDecl* from = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
            if (from && from->getType().getNonReferenceType()->isFloatingType() && seen.insert(from).second) work.push_back(from);
          });
    }
    return false;
  }

  // The variable, and those that callers give for it: `load(path, epoch, rate)`.
  void add(const ValueDecl* d, Decls& out) const {
    const auto* p = dyn_cast<ParmVarDecl>(d);
    const auto* f = p && p->getType()->isReferenceType() ? dyn_cast<FunctionDecl>(p->getDeclContext()) : nullptr;
    if (!out.insert(d).second || !f) return;
    for (const CallSite& c : m_.code.callers(f)) {
      const auto arguments = argumentsOf(c.call);
      const ValueDecl* given = p->getFunctionScopeIndex() < arguments.size() ? declOf(arguments[p->getFunctionScopeIndex()]) : nullptr;
      if (given) add(given, out);
    }
  }

  const Model& m_;
  std::map<const ValueDecl*, Paths> streams_, read_;
  std::map<std::string, Decls> written_;
  Paths rates_;
};

}  // namespace

llvm::DenseSet<const ValueDecl*> restoredFromFiles(const Model& model) { return StateFiles(model).restored(); }

}  // namespace hvdize
