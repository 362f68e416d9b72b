// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/compile.h"

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <unistd.h>

#include "tool/wrapper/defer.h"
#include "tool/wrapper/elf.h"
#include "tool/wrapper/files.h"
#include "tool/wrapper/process.h"
#include "tool/wrapper/rewrite.h"
#include "tool/wrapper/scan.h"
#include "tool/wrapper/translate.h"
#include "tool/wrapper/unit.h"

namespace hvdize::wrapper {
namespace {

using Role = Argument::Role;

bool readsOwnTable(const Words& options) {
  return std::any_of(options.begin(), options.end(), [](const std::string& o) { return o.rfind("--dialect", 0) == 0; });
}

Unit describe(const Command& command, const Argument& input, const std::string& output) {
  Unit u;
  u.folder = currentFolder();
  u.source = input.value;
  u.object = output;
  u.options = command.options;
  u.compiler = command.compiler;
  u.flags = command.wordsOf(Role::Flag);
  std::string text;
  if (readFile(u.source, text)) u.sourceHash = hashOf(text);
  const Scan scan = scanSource(u.source, u.flags, u.folder);
  u.framework = scan.framework, u.words = scan.words, u.main = scan.main;
  // The author's own table of a framework: what it names is not known here.
  if (readsOwnTable(u.options) || readsOwnTable(wordsOfVariable("HVDIZE_FLAGS"))) u.framework = u.words = true;
  return u;
}

/// Alone, as a program of one source, it may be done here; the link step sees whether it was alone. What hvdize says of one that it
/// does not rewrite is said there.
Rewriting rewriteAlone(const Site& site, Unit& u, const std::string& work) {
  Words options = site.environmentOptions;
  options.insert(options.end(), u.options.begin(), u.options.end());
  makeFolders(work);
  const std::string messages = work + ".messages";
  Rewriting r = rewrite(site, {u.source}, "", parseFlags(u.flags), options, work, messages);
  std::string said;
  if (r.status == 0 && !r.changed.empty() && readFile(messages, said)) std::cerr << said;
  unlink(messages.c_str());
  if (r.status != 0 || !u.main) return r;
  u.key = keyOf(site, options);
  u.kind = r.changed.empty() ? Unit::Kind::Unchanged : Unit::Kind::Rewritten;
  u.texts = r.hash();
  u.runtime = r.runtime;
  return r;
}

/// What is compiled by others, or from a text that is not the author's, keeps its summary, so that the link step knows.
int compileUnsupported(const Command& command, const Argument& input, const std::string& output, Unit u) {
  Words c = command.compiler;
  for (const Argument& a : command.arguments)
    if (a.role != Role::Input && a.role != Role::Output) c.insert(c.end(), a.words.begin(), a.words.end());
  c.insert(c.end(), input.words.begin(), input.words.end());
  c.insert(c.end(), {"-o", output});
  const int status = run(shortened(c, command.compiler.size() - 1, output + ".hvdize"));
  u.kind = Unit::Kind::Unsupported;
  if (status == 0) addSection(output, kSection, textOf(u), true);
  return status;
}

}  // namespace

std::string keyOf(const Site& site, const Words& options) {
  std::string text = site.identity();
  for (const std::string& o : options) text += "\n" + o;
  return hashOf(text);
}

int compileUnit(const Site& site, const Command& command, const Argument& input, const std::string& output, const Words& dependencies) {
  Unit u = describe(command, input, output);
  if (input.language != Language::Cxx) return compileUnsupported(command, input, output, std::move(u));
  Translation t{&u, output, dependencies, workFolder(output)};
  Rewriting alone;
  const bool read = u.mayTrain() && !site.off, defers = read && command.defers && mayDefer(u, dependencies);
  if (read && (u.main || defers)) alone = rewriteAlone(site, u, t.work);
  if (u.kind == Unit::Kind::Rewritten) t.rewriting = &alone;
  const int status = defers && !t.rewriting && changesForSure(u, alone) && defer(t, alone.defined) ? 0 : translate(site, t);
  if (u.mayTrain() && (!keepsTexts() || !t.rewriting)) removeTree(t.work);
  return status;
}

int compileStep(const Site& site, const Command& command) {
  const auto inputs = command.inputs();
  if (inputs.size() > 1 && !command.output().empty()) become(commandAsGiven(command));  // the compiler says what is wrong
  for (const Argument* input : inputs) {
    const std::string output = command.output().empty() ? stemOf(input->value) + ".o" : command.output();
    int status;
    if (input->language == Language::Other || input->language == Language::LinkerInput) {
      Words c = command.compiler;
      for (const Argument& a : command.arguments)
        if (a.role != Role::Input) c.insert(c.end(), a.words.begin(), a.words.end());
      c.insert(c.end(), input->words.begin(), input->words.end());
      if (inputs.size() == 1) become(commandAsGiven(command));
      status = run(c);
    } else {
      status = compileUnit(site, command, *input, output, command.wordsOf(Role::Dependency));
    }
    if (status != 0) return status;
  }
  return 0;
}

}  // namespace hvdize::wrapper
