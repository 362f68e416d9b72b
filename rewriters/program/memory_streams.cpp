// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/memory_streams.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

enum class Target { Named, File, Memory, Stream, Function };

// A name, or the class of the stream, as it is written.
Target targetOf(QualType type) {
  type = type.getNonReferenceType();
  if (!type->getPointeeType().isNull()) type = type->getPointeeType();
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record) return Target::Named;
  if (record->isLambda()) return Target::Function;
  if (!record->getIdentifier() || !record->isInStdNamespace()) return Target::Named;
  const llvm::StringRef name = record->getName();
  if (name == "function") return Target::Function;
  if (name.ends_with("fstream")) return Target::File;
  if (name.ends_with("stringstream") || name.ends_with("spanstream") || name.ends_with("strstream")) return Target::Memory;
  return name == "basic_ostream" || name == "basic_istream" || name == "basic_iostream" ? Target::Stream : Target::Named;
}

}  // namespace

bool MemoryStreams::isOwn(const Expr* destination) const {
  const Target written = targetOf(strip(destination)->getType());
  if (written != Target::Stream) return written == Target::Memory || written == Target::Function;
  bool files = true, any = false;
  for (const Expr* o : definitions_.origins(destination)) {
    const Expr* e = strip(o);
    const ValueDecl* d = declOf(e);
    any = true;
    files = files && (targetOf(e->getType()) == Target::File || (d && (isConsoleStream(d) || targetOf(d->getType()) == Target::File)));
  }
  return any && !files;
}

// The stream or the name that is given; of `net->load(archive)` what the archive has been read from.
const Expr* MemoryStreams::destinationOf(const Expr* call) const {
  const Entry* entry = sites_.dialect().lookup(call);
  const auto arguments = argumentsOf(call);
  if (!entry) return nullptr;
  if (entry->path >= 0) return entry->path < static_cast<int>(arguments.size()) ? arguments[entry->path] : nullptr;
  const ValueDecl* archive = arguments.empty() ? nullptr : rootOf(arguments[0]);
  for (const Expr* o : archive ? definitions_.origins(arguments[0]) : std::vector<const Expr*>())
    if (const ValueDecl* d = rootOf(o)) archive = d;
  for (const Site& s : sites_.of(Role::Load))
    if (archive && s.entry->path >= 0 && objectOf(s.call) && rootOf(objectOf(s.call)) == archive && s.entry->path < static_cast<int>(argumentsOf(s.call).size()))
      return argumentsOf(s.call)[s.entry->path];
  return nullptr;
}

// archive.load_from(bytes.data(), bytes.size())
bool MemoryStreams::isBytes(const Expr* destination) const {
  const Stmt* call = code_.parent(destination);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr>(call)) call = code_.parent(call);
  const auto arguments = isa_and_nonnull<Expr>(call) ? argumentsOf(cast<Expr>(call)) : llvm::SmallVector<const Expr*, 4>();
  for (unsigned i = 0; i + 1 < arguments.size(); ++i)
    if (arguments[i] == destination) return destination->getType()->isPointerType() && arguments[i + 1]->getType()->isIntegerType();
  return false;
}

bool MemoryStreams::concerns(const Expr* call) const {
  const Expr* destination = destinationOf(call);
  return destination && (isOwn(destination) || isBytes(destination));
}

bool MemoryStreams::readsOwn(const Expr* load) const {
  const Expr* from = destinationOf(load);
  const auto* stream = from ? dyn_cast_or_null<VarDecl>(rootOf(from)) : nullptr;
  return stream && llvm::any_of(sites_.of(Role::Save), [&](const Site& s) {
           const Expr* to = destinationOf(s.call);
           return to && rootOf(to) == stream;
         });
}

}  // namespace hvdize
