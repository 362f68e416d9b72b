// SPDX-License-Identifier: Apache-2.0
// Several values of a quantity in a list: `std::vector<double> rates = {0.1, 0.01};`. What is read of the list is scaled wherever it is read, shown
// to the user as well as used.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/quantities.h"

using namespace clang;

namespace hvdize {

namespace {

// Of `rates[i]`, `rates.at(i)`: the index.
const Expr* indexOf(const Expr* e) {
  if (const auto* s = dyn_cast<ArraySubscriptExpr>(e)) return s->getIdx();
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) return o->getOperator() == OO_Subscript && o->getNumArgs() == 2 ? o->getArg(1) : nullptr;
  const auto* m = dyn_cast<CXXMemberCallExpr>(e);
  return m && isSystemDecl(calleeOf(m)) && calleeName(m) == "at" && argumentsOf(m).size() == 1 ? argumentsOf(m)[0] : nullptr;
}

std::optional<int64_t> constantOf(const Expr* index, const ASTContext& context) {
  Expr::EvalResult r;
  return !index->isValueDependent() && index->getType()->isIntegerType() && index->EvaluateAsInt(r, context) ? std::optional(r.Val.getInt().getExtValue()) : std::nullopt;
}

// "lr", of settings["lr"].
const StringLiteral* keyIn(const Expr* index) {
  const StringLiteral* key = nullptr;
  bool other = false;
  forEachExpr(index, [&](const Expr* x) {
    if (const auto* text = dyn_cast<StringLiteral>(x)) key = text;
    other = other || isa<DeclRefExpr, MemberExpr>(x);
  });
  return other || !key || key->getCharByteWidth() != 1 ? nullptr : key;
}

const VarDecl* tableOf(const Expr* e) {
  const Expr* base = isa<ArraySubscriptExpr>(e) ? cast<ArraySubscriptExpr>(e)->getBase() : objectOf(e);
  const auto* v = base ? dyn_cast_or_null<VarDecl>(declOf(strip(base))) : nullptr;
  if (!v || isa<ParmVarDecl>(v)) return nullptr;
  const CXXRecordDecl* r = v->getType()->getAsCXXRecordDecl();
  const bool list = r && r->isInStdNamespace() && r->getIdentifier() && (r->getName() == "vector" || r->getName() == "array" || r->getName() == "deque" || r->getName() == "initializer_list");
  return list || v->getType()->isArrayType() ? v : nullptr;
}

// What the list is made with, number by number; false where that is not seen.
bool numbersOf(const Expr* made, llvm::SmallVectorImpl<const Expr*>& out) {
  const Expr* e = strip(made);
  if (const auto* k = dyn_cast<CXXConstructExpr>(e)) {
    if (k->getNumArgs() == 0) return true;
    e = strip(k->getArg(0));
    if (!isa<InitListExpr, CXXStdInitializerListExpr>(e)) return false;
  }
  if (const auto* s = dyn_cast<CXXStdInitializerListExpr>(e)) e = strip(s->getSubExpr());
  const auto* list = dyn_cast<InitListExpr>(e);
  if (!list) return false;
  for (const Expr* x : list->inits()) {
    if (isa<ImplicitValueInitExpr>(x)) continue;
    if (isa<InitListExpr>(strip(x)) ? !numbersOf(x, out) : !x->getType()->isArithmeticType()) return false;
    if (!isa<InitListExpr>(strip(x))) out.push_back(x);
  }
  return true;
}

}  // namespace

// for (double rate : {0.1, 0.01}): the numbers in the list. Of another range, where it is used.
void Quantity::traceElement(const VarDecl* element, const Expr* sink, const std::string& label) {
  const Expr* range = element->getInit();
  for (const VarDecl* hidden = nullptr; range;) {  // `*__begin`, made from `__range`
    const VarDecl* next = nullptr;
    forEachExpr(range, [&](const Expr* x) {
      const auto* v = isa<DeclRefExpr>(x) ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr;
      if (v && v->isImplicit() && v != hidden && !next) next = v;
    });
    if (!next) break;
    hidden = next;
    range = next->getInit();
  }
  const VarDecl* table = changes_ == Changes::Relative ? listBehind(element) : nullptr;
  if (table && traceTable(table, label)) return;
  const Expr* list = range ? strip(range) : nullptr;
  if (const auto* made = dyn_cast_or_null<CXXStdInitializerListExpr>(list)) list = strip(made->getSubExpr());
  if (const auto* numbers = dyn_cast_or_null<InitListExpr>(list)) {
    scaled_.insert(element);
    for (const Expr* number : numbers->inits()) trace(number, label);
  } else if (changes_ == Changes::Relative) {
    computed_.push_back({sink, label, stay_});
  } else if (!derived(sink)) {
    scaled_.insert(element);
    traceReads(element, sink, label);
  }
}

// The list that a loop goes through, `for (double rate : rates)`.
const VarDecl* Quantity::listBehind(const VarDecl* element) const {
  const Stmt* p = definitions_.code().declStmt(element);
  while (p && !isa<CXXForRangeStmt>(p)) p = definitions_.code().parent(p);
  const auto* loop = dyn_cast_or_null<CXXForRangeStmt>(p);
  const auto* v = loop && loop->getLoopVariable() == element && loop->getRangeInit() ? dyn_cast_or_null<VarDecl>(declOf(strip(loop->getRangeInit()))) : nullptr;
  return v && !isa<ParmVarDecl>(v) ? v : nullptr;
}

// False: the list is filled out of sight, or holds other things, too (`settings[0]`, `settings[1]`).
bool Quantity::traceTable(const VarDecl* table, const std::string& label, std::optional<int64_t> at) {
  llvm::SmallVector<const Expr*, 8> numbers, fixed;
  if (tables_.count(table)) return true;
  const auto given = definitions_.of(table);
  for (const Definition& def : given)
    if (!def.value || def.compound || def.through || !numbersOf(def.value, numbers)) return false;
  std::vector<const Expr*> reads;
  const AuthorCode& code = definitions_.code();
  for (const Expr* use : definitions_.uses(table)) {
    const Stmt* p = code.parent(use);
    while (isa_and_nonnull<ParenExpr, ImplicitCastExpr, MemberExpr>(p)) p = code.parent(p);
    const auto* e = dyn_cast_or_null<Expr>(p);
    const Expr* index = e ? indexOf(e) : nullptr;
    if (index && constantOf(index, code.context())) fixed.push_back(e);
    if (index && isRead(code, e)) reads.push_back(e);
  }
  // Of a list that is read at several fixed places some may be something else than this quantity.
  const bool others = llvm::any_of(fixed, [&](const Expr* e) { return constantOf(indexOf(e), code.context()) != at; });
  if (at && (others || (reads.size() == fixed.size() && elementsOf(table).empty()))) return traceItem(table, *at, numbers, reads, label);
  if (others) return false;
  const llvm::SmallVector<const Expr*, 4> put = putInto(table);
  numbers.append(put.begin(), put.end());
  if (numbers.empty()) return false;
  tables_.insert(table);
  // What is made before the ranks are there is scaled where it is read.
  if (!table->isLocalVarDecl() || table->isStaticLocal() || table->isConstexpr()) {
    for (const Expr* e : reads) place(e, label);
    for (const VarDecl* element : elementsOf(table))
      if (scaled_.insert(element).second) traceReads(element, table->getInit(), label);
    return true;
  }
  scaled_.insert(table);
  for (const VarDecl* element : elementsOf(table)) scaled_.insert(element);
  for (const Expr* n : numbers) trace(n, label);
  return true;
}

// `rates[2]`, where nothing but fixed places of the list is read: the number that stands there.
bool Quantity::traceItem(const VarDecl* table, int64_t at, llvm::ArrayRef<const Expr*> numbers, llvm::ArrayRef<const Expr*> reads, const std::string& label) {
  const AuthorCode& code = definitions_.code();
  if (!putInto(table).empty() || definitions_.of(table).size() != 1 || at < 0 || at >= static_cast<int64_t>(numbers.size())) return false;
  if (table->isLocalVarDecl() && !table->isStaticLocal() && !table->isConstexpr()) return trace(numbers[static_cast<size_t>(at)], label), true;
  for (const Expr* e : reads)
    if (constantOf(indexOf(e), code.context()) == at) place(e, label);
  return true;
}

// The variables of the loops that go through the list.
llvm::SmallVector<const VarDecl*, 2> Quantity::elementsOf(const VarDecl* table) const {
  llvm::SmallVector<const VarDecl*, 2> out;
  for (const Expr* use : definitions_.uses(table))
    for (const Stmt* p = use; p; p = definitions_.code().parent(p))
      if (const auto* loop = dyn_cast<CXXForRangeStmt>(p)) {
        if (strip(loop->getRangeInit()) == strip(use) && !llvm::is_contained(out, loop->getLoopVariable())) out.push_back(loop->getLoopVariable());
        break;
      }
  return out;
}

// `rates[i]`, `rates[2]`, `settings["lr"]`.
bool Quantity::traceSubscript(const Expr* e, const std::string& label) {
  const Expr* index = changes_ == Changes::Relative && !stay_ ? indexOf(e) : nullptr;
  if (!index) return false;
  if (const StringLiteral* key = keyIn(index)) return traceSetting(e, key->getString(), label);
  const VarDecl* table = tableOf(e);
  return table && traceTable(table, label, constantOf(index, definitions_.code().context()));
}

// A map that functions get by reference, by all of its names.
llvm::SmallVector<const ValueDecl*, 4> Quantity::namesOf(const ValueDecl* map) const {
  llvm::SmallVector<const ValueDecl*, 4> names{map};
  const auto add = [&](const ValueDecl* d) {
    if (d && !isa<FunctionDecl>(d) && !llvm::is_contained(names, d)) names.push_back(d);
  };
  for (size_t i = 0; i < names.size(); ++i) {
    if (isa<ParmVarDecl>(names[i]))
      for (const Definition& def : definitions_.of(names[i])) add(def.value ? declOf(strip(def.value)) : nullptr);
    for (const Expr* use : definitions_.uses(names[i])) {
      const Stmt* p = definitions_.code().parent(use);
      while (isa_and_nonnull<ParenExpr, ImplicitCastExpr>(p)) p = definitions_.code().parent(p);
      const auto* call = dyn_cast_or_null<Expr>(p);
      if (!call || definitions_.code().targets(call).empty()) continue;
      const auto arguments = argumentsOf(call);
      for (unsigned a = 0; a < arguments.size(); ++a)
        if (strip(arguments[a]) == strip(use))
          for (const FunctionDecl* f : definitions_.code().targets(call))
            if (a < f->getNumParams()) add(f->getParamDecl(a));
    }
  }
  return names;
}

// What a map has under one name may be anything that the program was told: it is scaled wherever it is read.
bool Quantity::traceSetting(const Expr* e, llvm::StringRef key, const std::string& label) {
  const AuthorCode& code = definitions_.code();
  const Expr* base = objectOf(e);
  const ValueDecl* map = base ? declOf(strip(base)) : nullptr;
  if (!map || !isStdRecord(map->getType().getNonReferenceType()) || !e->getType().getNonReferenceType()->isFloatingType()) return false;
  const auto isSetting = [&](const Expr* x) {
    const Expr* index = x ? indexOf(x) : nullptr;
    const StringLiteral* name = index ? keyIn(index) : nullptr;
    return name && name->getString() == key;
  };
  std::vector<const Expr*> reads;
  for (const ValueDecl* d : namesOf(map))
    for (const Expr* use : definitions_.uses(d)) {
      const Stmt* p = code.parent(use);
      while (isa_and_nonnull<ParenExpr, ImplicitCastExpr, MemberExpr>(p)) p = code.parent(p);
      const auto* read = dyn_cast_or_null<Expr>(p);
      if (!read || !isSetting(read)) continue;
      bool renews = false;
      for (const Stmt *below = read, *up = code.parent(read); isa_and_nonnull<Expr>(up); below = up, up = code.parent(up)) {
        const auto* b = dyn_cast<BinaryOperator>(up);
        if (!b || !b->isAssignmentOp() || !isSetting(strip(b->getLHS()))) continue;
        if (below == b->getRHS() && derived(b->getRHS())) return false;  // it is given what is scaled already
        renews = true;
      }
      if (!renews && isRead(code, read)) reads.push_back(read);
    }
  for (const Expr* put : putInto(map))
    if (derived(put)) return false;
  if (!llvm::is_contained(reads, e)) return false;
  for (const Expr* read : reads) place(read, label);
  return true;
}

}  // namespace hvdize
