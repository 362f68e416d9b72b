// SPDX-License-Identifier: Apache-2.0
// Means over counted terms. Where one is used in the function that forms it, its count can be named there; elsewhere it must be an ordinary
// mean over the samples, and is made one where it is formed. What has been found out with the other kind is then found out anew.
#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

// Is this mean used outside of the function that forms it?
bool Kinds::leaves(const Value& mean, const Expr* use) {
  if (mean.kind != Kind::CountMean || !mean.formed || code_.functionOf(mean.formed) == code_.functionOf(use)) return false;
  if (leaving_.insert(mean.formed).second) again_ = true;
  return true;
}

// Two means with counts of their own, or one of them over samples: what they make together has no one count.
bool Kinds::meet(const Value& a, const Value& b) {
  const auto isMean = [](const Value& v) { return v.kind == Kind::Mean || v.kind == Kind::CountMean; };
  if (!isMean(a) || !isMean(b) || (a.kind == b.kind && a.count == b.count)) return false;
  for (const Value* v : {&a, &b})
    if (v->kind == Kind::CountMean && v->formed && leaving_.insert(v->formed).second) again_ = true;
  return true;
}

Value Kinds::formedMean(const Value& v) {
  if (v.kind != Kind::CountMean || !leaving_.count(v.formed)) return v;
  if (recording_) countedMeans_[v.formed] = v;
  return Value(Kind::Mean).after(v, v);
}

}  // namespace hvdize
