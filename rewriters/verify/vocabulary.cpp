// SPDX-License-Identifier: Apache-2.0
#include "rewriters/verify/vocabulary.h"

#include <string>

#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/StringMap.h"

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/author.h"

using namespace clang;

namespace hvdize {

namespace {

using Result = Word::Result;

const llvm::StringMap<Word>& words() {
  static const llvm::StringMap<Word> kWords = {
      // Collectives.
      {"Session::Session", {true, Result::Uniform}},
      {"barrier", {true, Result::Uniform}},
      {"broadcast", {true, Result::Uniform}},
      {"reduce_gradients", {true, Result::Uniform}},
      {"sync_buffers", {true, Result::Uniform}},
      {"batch_mean", {true, Result::Uniform}},
      {"batch_sum", {true, Result::Uniform}},
      {"batch_max", {true, Result::Uniform}},
      {"batch_min", {true, Result::Uniform}},
      {"batch_common", {true, Result::Uniform}},
      {"batch_count_mean", {true, Result::Uniform}},
      {"counted_mean", {true, Result::RankLocal}},
      {"gather", {true, Result::Uniform}},
      {"all_reduce_sum", {true, Result::Uniform}},
      {"agree", {true, Result::Uniform}},
      {"from_root", {true, Result::Uniform, true}},
      {"shared_seed", {true, Result::Uniform}},
      {"root_input", {true, Result::Uniform}},
      // What only this rank knows.
      {"is_root", {false, Result::RankLocal}},
      {"rank", {false, Result::RankLocal}},
      {"local_rank", {false, Result::RankLocal}},
      {"shard", {false, Result::RankLocal}},
      {"squeeze", {false, Result::RankLocal}},
      {"carried", {false, Result::RankLocal}},
      {"share_of", {false, Result::RankLocal}},
      {"local_batch_size", {false, Result::RankLocal}},
      {"counted_terms", {false, Result::RankLocal}},
      {"current_slice", {false, Result::RankLocal}},
      {"root_only", {false, Result::RankLocal, true}},
      {"WholeDraw::shard", {false, Result::RankLocal}},
      // The same on all ranks, or of no consequence for the way a rank takes.
      {"size", {false, Result::Uniform}},
      {"whole_draw", {false, Result::Uniform}},
      {"WholeDraw::keep", {false, Result::Uniform}},
      {"outside_step", {false, Result::Uniform}},
      {"OutsideStep::keep", {false, Result::OfArguments}},
      {"global", {false, Result::Uniform}},
      {"global_like", {false, Result::Uniform}},
      {"local_device", {false, Result::Uniform}},
      {"bind_device", {false, Result::Uniform}},
      {"steps", {false, Result::Uniform}},
      {"root_path", {false, Result::Uniform}},
      {"root_command", {false, Result::Uniform}},
      {"root_stream", {false, Result::Uniform}},
      {"error_stream", {false, Result::Uniform}},
      {"error_call", {false, Result::Uniform}},
  };
  return kWords;
}

/// The name behind `hvd::`, empty for other namespaces. Members of framework classes have a class in between.
std::string nameInVocabulary(const FunctionDecl* f) {
  if (!f || (!f->getIdentifier() && !isa<CXXConstructorDecl>(f))) return {};
  const std::string name = qualifiedName(f);
  const llvm::StringRef n = name;
  return n.starts_with("hvd::") ? n.drop_front(5).str() : std::string();
}

bool isCallOf(const Expr* call, llvm::StringRef name) {
  const FunctionDecl* f = call ? calleeOf(call) : nullptr;
  return f && nameInVocabulary(f) == name;
}

/// `hvd::weighted(loss, kind).backward()`: a method of what `weighted` gives.
bool isWeightedBackward(const Expr* call) {
  const auto* m = dyn_cast<CXXMemberCallExpr>(call);
  if (!m || !m->getMethodDecl() || !m->getMethodDecl()->getIdentifier() || m->getMethodDecl()->getName() != "backward") return false;
  return isCallOf(objectOf(call), "weighted");
}

}  // namespace

const Word* wordOf(const FunctionDecl* f) {
  const std::string name = nameInVocabulary(f);
  if (name.empty()) return nullptr;
  const auto it = words().find(name);
  return it == words().end() ? nullptr : &it->second;
}

const Word* wordOf(const Expr* call) {
  static const Word kBackward = {true, Result::Uniform};
  if (isWeightedBackward(call)) return &kBackward;
  const FunctionDecl* f = calleeOf(call);
  const auto* constructor = dyn_cast_or_null<CXXConstructorDecl>(f);
  if (constructor && constructor->isCopyOrMoveConstructor()) return nullptr;
  return wordOf(f);
}

bool isSteps(const Expr* call) { return isCallOf(call, "steps"); }
bool isSumInPlace(const Expr* call) { return isCallOf(call, "all_reduce_sum"); }
bool isSyncBatchNorm(const Expr* call) { return isCallOf(call, "sync_batchnorm"); }

bool isRootOnlyCall(const FunctionDecl* f) {
  const auto* m = dyn_cast_or_null<CXXMethodDecl>(f);
  return m && m->getOverloadedOperator() == OO_Call && llvm::StringRef(qualifiedName(m->getParent())).starts_with("hvd::") &&
         m->getParent()->getName() == "RootOnly";
}

std::string spelling(const FunctionDecl* f) {
  if (!f) return "call";
  if (const auto* c = dyn_cast<CXXConstructorDecl>(f)) return qualifiedName(c->getParent());
  return isa<CXXMethodDecl>(f) ? f->getDeclName().getAsString() : qualifiedName(f);
}

}  // namespace hvdize
