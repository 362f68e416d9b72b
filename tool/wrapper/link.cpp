// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/link.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <unistd.h>

#include "tool/wrapper/compile.h"
#include "tool/wrapper/elf.h"
#include "tool/wrapper/files.h"
#include "tool/wrapper/inputs.h"
#include "tool/wrapper/process.h"
#include "tool/wrapper/program.h"
#include "tool/wrapper/replaced.h"

namespace hvdize::wrapper {
namespace {

using Role = Argument::Role;

bool isCompiled(const Argument& a) {
  return a.role == Role::Input && (a.language == Language::Cxx || a.language == Language::Cuda || a.language == Language::Preprocessed);
}

/// Without -MF the rule of `c++ -MD a.cpp -o program` goes to program-a.d; without -MT it is a rule for the program's object a.o.
Words dependencyWords(const Command& command, const std::string& source) {
  Words words = command.wordsOf(Role::Dependency);
  const auto has = [&](const char* option) { return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return w.rfind(option, 0) == 0; }); };
  if (words.empty()) return words;
  const std::string stem = stemOf(source), output = command.output();
  if (!has("-MF")) words.insert(words.end(), {"-MF", output.empty() ? "a-" + stem + ".d" : folderOf(output) + (folderOf(output).empty() ? "" : "/") + stemOf(output) + "-" + stem + ".d"});
  if (!has("-MT") && !has("-MQ")) words.insert(words.end(), {"-MQ", output.empty() ? stem + ".o" : output});
  return words;
}

/// `c++ a.cpp b.cpp -o program`: the sources become objects first.
int compileSources(const Site& site, Command& command, const std::string& folder) {
  Command compiling = command;
  compiling.arguments.push_back({Role::Compile, {"-c"}, "", Language::Other});
  for (Argument& a : command.arguments) {
    if (!isCompiled(a)) continue;
    makeFolders(folder);
    const std::string object = folder + "/" + stemOf(a.value) + "-" + hashOf(absolutePath(a.value, currentFolder())).substr(0, 8) + ".input.o";
    if (const int status = compileUnit(site, compiling, a, object, dependencyWords(command, a.value))) return status;
    a = {Role::Input, {object}, object, Language::LinkerInput};
  }
  return 0;
}

/// The command with the objects of `program` in place of the units' own, the runtime and the symbol that objects ask for.
Words linkCommand(const Site& site, const Command& command, const Replacements& replaced, const Program& program, const std::string& output, bool partial) {
  Words c = command.compiler;
  c.insert(c.end(), replaced.inFront.begin(), replaced.inFront.end());
  for (const Argument& a : command.arguments) {
    if (a.role == Role::Output || a.role == Role::Dependency) continue;
    const Words words = replaced.wordsFor(a);
    c.insert(c.end(), words.begin(), words.end());
  }
  c.insert(c.end(), {"-o", output});
  if (partial) return c;
  c.push_back(std::string("-Wl,--defsym=") + kGuard + "=0");
  if (program.runtime.empty()) return c;
  if (site.libraries.empty()) throw std::runtime_error("the runtime's library was not found beside hvdize-c++");
  if (program.runtime == "hvd/torch.hpp") c.push_back(site.libraries + "/libhvd_torch.so");
  c.insert(c.end(), {site.libraries + "/libhvd_runtime.so", "-Wl,-rpath," + site.libraries});
  return c;
}

/// The objects of sources that were inputs of the link.
void removeInputs(const Command& given, const Command& linked) {
  for (size_t i = 0; i < given.arguments.size() && i < linked.arguments.size(); ++i)
    if (isCompiled(given.arguments[i])) unlink(linked.arguments[i].value.c_str());
}

bool fallsBack() {
  const char* fallback = std::getenv("HVDIZE_FALLBACK");
  if (!fallback || !*fallback) return false;
  if (std::string(fallback) != "sequential") throw std::runtime_error("HVDIZE_FALLBACK=" + std::string(fallback) + ": only 'sequential' is known");
  return true;
}

/// Its units stay as they are written; programs that link it are told.
std::string trainingUnits(const LinkInputs& inputs) {
  std::string list;
  for (const LinkedUnit& l : inputs.units)
    if (l.unit.mayTrain()) list += (list.empty() ? "" : ", ") + l.unit.source;
  return list;
}

// An object that was compiled by another compiler, before hvdize-c++ took its place say, trains as it is written: every rank by itself.
void noteForeignTraining(const LinkInputs& inputs) {
  if (inputs.foreignTraining.empty()) return;
  const std::string message = "'" + inputs.foreignTraining.front() + "' runs a backward pass and was not compiled by hvdize-c++: every rank would train by itself there (compile it again; HVDIZE_FALLBACK=sequential links it as it is)";
  if (!fallsBack()) throw std::runtime_error(message);
  std::cerr << "hvdize-c++: warning: " << message << "\n";
}

Program decide(const Site& site, const Command& command, const LinkInputs& inputs, bool library, const std::string& folder) {
  if (command.off || site.off || library) return sequential(site, inputs, folder);
  try {
    return distribute(site, inputs, command.options, folder);
  } catch (const Refused& refused) {
    if (!fallsBack()) throw;
  } catch (const std::runtime_error& error) {
    if (!fallsBack()) throw;
    std::cerr << "hvdize-c++: warning: " << error.what() << "\n";
  }
  std::cerr << "hvdize-c++: warning: '" << command.output() << "' is linked as the sequential program (HVDIZE_FALLBACK)\n";
  return sequential(site, inputs, folder);
}

}  // namespace

int linkStep(const Site& site, const Command& given) {
  Command command = given;
  const std::string output = command.output().empty() ? "a.out" : command.output(), folder = workFolder(output);
  if (std::any_of(command.arguments.begin(), command.arguments.end(), isCompiled))
    if (const int status = compileSources(site, command, folder)) return status;
  const LinkInputs inputs = readInputs(command);
  const bool partial = command.hasFlag("-r") || command.hasFlag("-Wl,-r");
  const auto any = [&](auto&& what) { return std::any_of(inputs.units.begin(), inputs.units.end(), [&](const LinkedUnit& l) { return what(l.unit); }); };
  if (!partial && !command.off && !site.off && !command.hasFlag("-shared") && any([](const Unit& u) { return u.framework; })) noteForeignTraining(inputs);
  const bool trains = any([](const Unit& u) { return u.mayTrain(); }), deferred = any([](const Unit& u) { return u.kind == Unit::Kind::Deferred; });
  if ((partial && !deferred) || (!trains && inputs.sequentialLibraries.empty())) {
    if (std::none_of(given.arguments.begin(), given.arguments.end(), isCompiled)) become(commandAsGiven(given));
    Words c = command.compiler;
    for (const Argument& a : command.arguments)
      if (a.role != Role::Dependency) c.insert(c.end(), a.words.begin(), a.words.end());
    const int status = run(c);
    removeInputs(given, command);
    rmdir(folder.c_str());
    return status;
  }
  const bool library = command.hasFlag("-shared");
  const Program program = partial ? deferredOnly(site, inputs, folder) : decide(site, command, inputs, library, folder);
  const Replacements replaced(inputs, program, folder);
  const std::string growing = output + ".hvdize-growing";
  const int status = run(shortened(linkCommand(site, command, replaced, program, growing, partial), command.compiler.size() - 1, folder));
  replaced.removeArchives();
  if (status == 0 && library && !partial) addSection(growing, kLibrarySection, trainingUnits(inputs), false);
  if (status == 0 && std::rename(growing.c_str(), output.c_str()) != 0) throw std::runtime_error("cannot write '" + output + "'");
  unlink(growing.c_str());
  removeInputs(given, command);
  rmdir(folder.c_str());  // only an empty one
  return status;
}

}  // namespace hvdize::wrapper
