// SPDX-License-Identifier: Apache-2.0
// Random numbers of the C++ library: what seeds them, and whose state they come from.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

bool named(const FunctionDecl* f, llvm::StringRef name) { return f->getDeclName().isIdentifier() && f->getName() == name; }

bool isSeedSequence(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  return r && r->isInStdNamespace() && r->getName() == "seed_seq";
}

}  // namespace

// The value of a call that draws or seeds; Kind::None for any other call.
Value Kinds::evalChance(const Expr* e) {
  const FunctionDecl* callee = calleeOf(e);
  if (!callee || !isSystemDecl(callee)) return Kind::None;
  const HostRole role = hostRole(callee);
  const Expr* object = objectOf(e);
  const auto arguments = argumentsOf(e);
  const bool makesEngine = isa<CXXConstructExpr>(e) && isRandomEngine(e->getType());
  const bool copies = isa<CXXConstructExpr>(e) && cast<CXXConstructExpr>(e)->getConstructor()->isCopyOrMoveConstructor();
  const bool seeds = role == HostRole::SeedC || makesEngine || (isa<CXXConstructExpr>(e) && isSeedSequence(e->getType())) ||
                     (object && isRandomEngine(object->getType()) && named(callee, "seed"));
  if (seeds && !copies && !arguments.empty()) {
    const auto seed = [&](const Expr* a) {
      if (host(a).kind == Kind::RankLocal && recording_) localSeeds_.insert(a);
    };
    for (const Expr* a : arguments)
      if (const auto list = isa<CXXStdInitializerListExpr, InitListExpr>(strip(a)) ? extentsOf(a) : std::nullopt; list) for (const Expr* x : *list) seed(x);
      else seed(a);
    return Kind::Uniform;
  }
  const bool distributes = object && isDistribution(object->getType());
  const bool draws = object && isRandomEngine(object->getType()) && callee->getOverloadedOperator() == OO_Call;
  bool entropy = draws && isRandomDevice(object->getType());
  for (const Expr* a : arguments) entropy = entropy || isRandomDevice(strip(a)->getType());
  if (!entropy) return Kind::None;
  const Value v = Value::rankLocal(e, "the entropy of this machine");
  // What it puts in order, or fills, is a container that the training reads: it cannot be agreed on afterwards.
  if (!distributes && !draws && e->getType()->isVoidType())
    problem(e, v, "it uses the entropy of this machine, which differs between ranks (use an engine that is seeded by a number)");
  return v;
}

}  // namespace hvdize
