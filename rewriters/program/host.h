// SPDX-License-Identifier: Apache-2.0
// What the standard library, the C library and OpenCV's files of pictures do, as far as distribution cares: output, files, clocks, entropy, exits.
#pragma once

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace hvdize {

enum class HostRole {
  None,
  Pure,          ///< no effect; result depends on the arguments only
  Forward,       ///< hands on what it gets: std::move, std::get, make_pair
  Print,         ///< writes its arguments to standard output
  PrintTo,       ///< writes to the FILE* in an argument
  OpenFile,      ///< fopen: path and mode
  FileChange,    ///< creates, removes or renames files or folders
  PictureWrite,  ///< writes a picture: path and contents
  PictureRead,   ///< reads a picture
  FileTest,      ///< asks the file system
  ReadInput,     ///< reads standard input
  Clock,         ///< time of this machine
  Entropy,       ///< std::random_device and the like
  Identity,      ///< process or host identity: getpid, gethostname
  SeedC,         ///< srand
  Exit,          ///< ends the process
  Shell,         ///< runs a command
  OpenPipe,      ///< popen: runs a command and returns the stream to or from it
  DrawsC,        ///< rand(): the state is the process'
};

HostRole hostRole(const clang::FunctionDecl* f);
/// A function of a library: may a call change its object, or what its arguments refer to? Streams do not count.
bool mayChange(const clang::FunctionDecl* f);
/// A template or a method: a call of it is kept to one rank as a whole, for the function itself cannot be handed on.
bool hasNoAddress(const clang::FunctionDecl* f);
/// Index of the path argument of OpenFile, FileChange and stream constructors.
unsigned hostPathArgument(const clang::FunctionDecl* f);

/// std::cout, std::cerr, std::clog and their wide forms, or stdout and stderr.
bool isConsoleStream(const clang::ValueDecl* v);
/// std::cin, std::wcin or stdin.
bool isConsoleInput(const clang::ValueDecl* v);
/// std::basic_ofstream (writing).
bool isOutputFile(clang::QualType t);
/// std::basic_ifstream (reading).
bool isInputFile(clang::QualType t);
/// std::mt19937 and the other engines of <random>.
bool isRandomEngine(clang::QualType t);
/// Does the function belong to a communication library: MPI, NCCL, Gloo?
bool communicates(const clang::FunctionDecl* f);
/// std::random_device.
bool isRandomDevice(clang::QualType t);
/// Distributions of <random>.
bool isDistribution(clang::QualType t);
bool isStdFunction(clang::QualType t);
/// In namespace std or declared in a system header.
bool isSystemDecl(const clang::Decl* d);
/// Record in namespace std: a container, pair, optional, smart pointer ...
bool isStdRecord(clang::QualType t);
/// std::string and std::string_view, and those of other characters.
bool isText(clang::QualType t);
/// const char*
bool isCharacters(clang::QualType t);
/// std::optional or a smart pointer of the standard library: what it holds is one thing, whether it holds anything is another.
bool mayHoldNothing(clang::QualType t);
/// `batch.has_value()`, `batch == std::nullopt`, `batch != nullptr`: the optional or pointer that is asked. Null for other calls.
const clang::Expr* askedWhetherHeld(const clang::Expr* call);
/// Is this the name of a method by which a container of the standard library gets an item more: push_back, emplace, insert_or_assign?
bool addsItem(llvm::StringRef method);
/// `if (labels)`, `labels.has_value()`, `pointer != nullptr`: what is asked whether something is there at all. Null for anything else.
const clang::Expr* askedForPresence(const clang::Expr* e);

}  // namespace hvdize
