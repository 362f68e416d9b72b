// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/restored.h"

#include <set>
#include <string>
#include <vector>

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
      forEachExpr(r.code, [&](const Expr* e) { text(e); });
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

  const std::map<const Expr*, const ValueDecl*>& values() const { return values_; }

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
    if (const VarDecl* v = m_.code.variableInitialisedBy(e)) readsFromText(v, e);
    if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->getOpcode() == BO_Assign) readsFromText(declOf(b->getLHS()), b->getRHS());
    const auto* call = dyn_cast<CallExpr>(e);
    const llvm::StringRef name = call && calleeOf(call) && isSystemDecl(calleeOf(call)) ? calleeName(call) : "";
    const auto arguments = argumentsOf(e);
    // The bytes of a number, or a text that has been made before.
    if (name == "fread" && arguments.size() == 4) return reads(addressed(arguments[0]), filesOf(arguments[3]));
    if (name == "fwrite" && arguments.size() == 4) return writes(arguments[0], filesOf(arguments[3]));
    if (name == "fputs" && arguments.size() == 2) return writes(arguments[0], filesOf(arguments[1]));
    if (name == "read" && arguments.size() == 2 && objectOf(e)) return reads(addressed(arguments[0]), filesOf(objectOf(e)));
    if (name == "write" && arguments.size() == 2 && objectOf(e)) return writes(arguments[0], filesOf(objectOf(e)));
    if ((name == "print" || name == "println") && arguments.size() > 1) {
      for (const Expr* a : arguments) writes(a, filesOf(arguments[0]));
      return;
    }
    if ((name != "fscanf" && name != "fprintf") || call->getNumArgs() < 3) return;
    const Paths files = filesOf(call->getArg(0));
    for (unsigned i = 2; i < call->getNumArgs(); ++i)
      if (name == "fprintf") writes(call->getArg(i), files);
      else if (const auto* address = dyn_cast<UnaryOperator>(strip(call->getArg(i))); address && address->getOpcode() == UO_AddrOf) reads(address->getSubExpr(), files);
  }

  // Texts that come from files, `getline(in, line)`, and those that numbers are put into, `snprintf(text, n, "%g", rate)`.
  void text(const Expr* e) {
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    const auto* call = dyn_cast<CallExpr>(e);
    const auto arguments = argumentsOf(e);
    const auto from = [&](const Expr* target, const Expr* stream) {
      const ValueDecl* d = rootOf(strip(target));
      if (!d || d->getType().getNonReferenceType()->isArithmeticType()) return;
      const Paths files = filesOf(stream);
      texts_[d].insert(files.begin(), files.end());
    };
    if (o && o->getNumArgs() == 2 && o->getOperator() == OO_GreaterGreater) return from(o->getArg(1), o->getArg(0));
    const llvm::StringRef name = call && calleeOf(call) && isSystemDecl(calleeOf(call)) ? calleeName(call) : "";
    if (name == "getline" && arguments.size() >= 2 && !objectOf(e)) return from(arguments[1], arguments[0]);
    if (name == "getline" && arguments.size() >= 2) return from(arguments[0], objectOf(e));
    if (name == "fgets" && arguments.size() == 3) return from(arguments[0], arguments[2]);
    if ((name == "snprintf" || name == "sprintf") && arguments.size() > 2)
      if (const ValueDecl* d = rootOf(strip(arguments[0])))
        for (const Expr* a : llvm::ArrayRef<const Expr*>(arguments).drop_front(2)) made_[d].push_back(a);
    // std::istringstream words(line);
    const auto* k = dyn_cast<CXXConstructExpr>(e);
    const Stmt* p = e;
    while (p && isa<Expr>(p) && !m_.code.variableInitialisedBy(p)) p = m_.code.parent(p);
    const VarDecl* stream = k && k->getNumArgs() > 0 && p && isa<Expr>(p) ? m_.code.variableInitialisedBy(p) : nullptr;
    const ValueDecl* of = stream ? rootOf(strip(k->getArg(0))) : nullptr;
    if (const auto known = of ? texts_.find(of) : texts_.end(); known != texts_.end()) streams_[stream].insert(known->second.begin(), known->second.end());
  }

  // rate = std::stod(line);
  void readsFromText(const ValueDecl* d, const Expr* value) {
    if (!d || !d->getType().getNonReferenceType()->isFloatingType()) return;
    forEachExpr(value, [&](const Expr* x) {
      static constexpr llvm::StringLiteral kConversions[] = {"stod", "stof", "stold", "strtod", "strtof", "atof"};
      const FunctionDecl* f = isa<CallExpr>(x) ? calleeOf(x) : nullptr;
      if (!f || !isSystemDecl(f) || !llvm::is_contained(kConversions, calleeName(x)) || argumentsOf(x).empty()) return;
      forEachExpr(argumentsOf(x)[0], [&](const Expr* y) {
        const auto known = isa<DeclRefExpr, MemberExpr>(y) ? texts_.find(declOf(y)) : texts_.end();
        if (known == texts_.end() || known->second.empty()) return;
        read_[d].insert(known->second.begin(), known->second.end());
        values_[strip(value)] = d;
      });
    });
  }

  // &rate, also as bytes.
  static const Expr* addressed(const Expr* pointer) {
    const Expr* e = strip(pointer);
    while (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) e = strip(cast->getSubExpr());
    const auto* u = dyn_cast<UnaryOperator>(e);
    return u && u->getOpcode() == UO_AddrOf ? u->getSubExpr() : e;
  }

  void reads(const Expr* target, const Paths& files) {
    const ValueDecl* d = declOf(target);
    if (d && !files.empty() && d->getType().getNonReferenceType()->isFloatingType()) read_[d].insert(files.begin(), files.end());
  }

  void writes(const Expr* value, const Paths& files) {
    for (const std::string& path : files) {
      forEachExpr(value, [&](const Expr* x) {
        if (const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr; d && written_[path].insert(d).second)
          if (const auto put = made_.find(d); put != made_.end())
            for (const Expr* a : std::vector<const Expr*>(put->second)) writes(a, {path});
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
  std::map<const ValueDecl*, Paths> streams_, read_, texts_;
  std::map<const ValueDecl*, std::vector<const Expr*>> made_;
  std::map<const Expr*, const ValueDecl*> values_;  // std::stod(line), and what gets it
  std::map<std::string, Decls> written_;
  Paths rates_;
};

}  // namespace

Restored restoredFromFiles(const Model& model) {
  const StateFiles files(model);
  Restored out;
  out.variables = files.restored();
  for (const auto& [value, d] : files.values())
    if (out.variables.contains(d)) out.values.insert(value);
  return out;
}

}  // namespace hvdize
