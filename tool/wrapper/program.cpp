// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/program.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tool/wrapper/compile.h"
#include "tool/wrapper/files.h"
#include "tool/wrapper/forced.h"
#include "tool/wrapper/merge.h"
#include "tool/wrapper/translate.h"

namespace hvdize::wrapper {
namespace {

/// The options of the program: those of its units and of the link command must be the same, where there are any.
Words optionsOf(const Site& site, const LinkInputs& inputs, const Words& linkOptions) {
  const Words* chosen = linkOptions.empty() ? nullptr : &linkOptions;
  std::string by = "the link command";
  for (const LinkedUnit& l : inputs.units) {
    if (l.unit.options.empty()) continue;
    if (chosen && *chosen != l.unit.options)
      throw std::runtime_error("'" + l.unit.source + "' and " + by + " have other options of hvdize: one program has one policy");
    if (!chosen) chosen = &l.unit.options, by = "'" + l.unit.source + "'";
  }
  Words options = site.environmentOptions;
  if (chosen) options.insert(options.end(), chosen->begin(), chosen->end());
  return options;
}

void checkSource(const LinkedUnit& l) {
  const Unit& u = l.unit;
  std::string text;
  if (!readFile(u.path(), text))
    throw std::runtime_error("'" + u.path() + "', the source of '" + l.file + "', cannot be read: " +
                             (u.kind == Unit::Kind::Deferred ? "it is compiled when the program is linked (--hvdize-defer=off)" : "the program is checked as a whole when it is linked"));
  if (hashOf(text) != u.sourceHash) throw std::runtime_error("'" + u.path() + "' has changed since '" + l.file + "' was compiled: compile it again");
}

void checkSources(const LinkInputs& inputs) {
  for (const LinkedUnit& l : inputs.units) {
    if (l.unit.kind == Unit::Kind::Unsupported && l.unit.mayTrain())
      throw std::runtime_error("'" + l.unit.source + "' may train, and hvdize-c++ cannot rewrite it: it is CUDA or preprocessed text");
    if (l.unit.kind != Unit::Kind::Unsupported) checkSource(l);
  }
}

class Builder {
 public:
  Builder(const Site& site, const std::string& folder) : site_(site), folder_(folder) {}

  /// The object of a unit, compiled now or kept from an earlier link.
  std::string objectOf(const Unit& unit, const Rewriting* rewriting) {
    Unit u = unit;
    u.kind = rewriting ? Unit::Kind::Rewritten : Unit::Kind::Plain;
    u.texts = rewriting ? rewriting->hash() : "";
    u.runtime = rewriting ? rewriting->runtime : "";
    const std::string name = stemOf(u.source) + "-" + hashOf(u.path() + "\n" + u.object).substr(0, 8) + ".o";
    const std::string object = folder_ + "/" + name, stamp = object + ".stamp";
    std::string kept;
    const std::string head = textOf(u) + (rewriting ? rewriting->quoteFolder : "") + "\n" + site_.libraries + "\n";
    if (exists(object) && readFile(stamp, kept) && kept.compare(0, head.size(), head) == 0 && fresh(kept.substr(head.size()), u.folder)) return object;
    removeTree(stamp);
    Words files;
    Translation t{&u, object, {}, folder_ + "/texts", rewriting};
    if (const int status = translate(site_, t, &files)) throw Refused{status};
    writeFile(stamp, head + stamps(files, u.folder));
    return object;
  }

  struct Wanted {
    const Unit* unit = nullptr;
    const Rewriting* rewriting = nullptr;
    std::string object = {};             ///< the answer, or
    std::exception_ptr failure = {};
  };
  /// The objects of several units, a few at a time. The first failure, in their order, is thrown.
  void makeAll(std::vector<Wanted>& all) {
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i = next++; i < all.size(); i = next++) try {
          all[i].object = objectOf(*all[i].unit, all[i].rewriting);
        } catch (...) {
          all[i].failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    for (size_t n = std::min(all.size(), atOnce()); n > 1; --n) others.emplace_back(work);
    work();
    for (std::thread& t : others) t.join();
    for (const Wanted& w : all)
      if (w.failure) std::rethrow_exception(w.failure);
  }

 private:
  /// A unit takes gigabytes, and nobody tells a link how many may run: two, or as the user says.
  static size_t atOnce() {
    const char* said = std::getenv("HVDIZE_JOBS");
    const int jobs = said && *said ? std::atoi(said) : static_cast<int>(std::min(2u, std::thread::hardware_concurrency()));
    if (said && *said && jobs < 1) throw std::runtime_error("HVDIZE_JOBS=" + std::string(said) + ": a number from 1 expected");
    return static_cast<size_t>(std::max(jobs, 1));
  }

  /// The files that were read, with size and time; not the new texts, which are in the summary's hash.
  std::string stamps(const Words& files, const std::string& from) const {
    std::string text;
    for (const std::string& f : files)
      if (f.compare(0, folder_.size(), folder_) != 0) text += stampOf(absolutePath(f, from)) + "\t" + f + "\n";
    return text;
  }
  static bool fresh(const std::string& lines, const std::string& from) {
    for (const std::string& line : split(lines, '\n')) {
      const size_t tab = line.find('\t');
      if (tab != std::string::npos && stampOf(absolutePath(line.substr(tab + 1), from)) != line.substr(0, tab)) return false;
    }
    return true;
  }

  const Site& site_;
  const std::string folder_;
};

/// A single unit needs no second reading, when it was read by this hvdize with these options.
std::optional<Program> done(const Site& site, const LinkInputs& inputs, const Words& options) {
  if (inputs.units.size() != 1) return std::nullopt;
  const Unit& u = inputs.units[0].unit;
  if (u.key != keyOf(site, options) || (u.kind != Unit::Kind::Rewritten && u.kind != Unit::Kind::Unchanged)) return std::nullopt;
  return Program{{}, u.kind == Unit::Kind::Rewritten ? u.runtime : ""};
}

/// As they are written.
Program compiled(const Site& site, std::vector<Builder::Wanted> wanted, const std::string& folder) {
  Program program;
  if (wanted.empty()) return program;
  makeFolders(folder);
  Builder(site, folder).makeAll(wanted);
  for (const Builder::Wanted& w : wanted) program.replaced[w.unit] = w.object;
  if (!keepsTexts()) removeTree(folder + "/texts");
  return program;
}

}  // namespace

Program distribute(const Site& site, const LinkInputs& inputs, const Words& linkOptions, const std::string& folder) {
  if (!inputs.sequentialLibraries.empty())
    throw std::runtime_error("'" + inputs.sequentialLibraries[0] + "' is a shared library with training code, which is not rewritten: link these sources into the program");
  const Words options = optionsOf(site, inputs, linkOptions);
  if (auto program = done(site, inputs, options)) return *program;
  checkSources(inputs);
  const std::string texts = folder + "/texts";
  const Reading reading = readingOf(inputs);
  const Rewriting r = rewrite(site, reading.sources, reading.folder, reading.flags, options, texts);
  if (r.status != 0) throw Refused{r.status};

  Program program;
  program.runtime = r.changed.empty() ? "" : r.runtime;
  Builder builder(site, folder);
  std::vector<Builder::Wanted> wanted;
  for (const LinkedUnit& l : inputs.units) {
    const bool changes = concerns(r, l.unit.path(), l.unit.flags, l.unit.folder);
    const bool good = changes ? l.unit.kind == Unit::Kind::Rewritten && l.unit.texts == r.hash() : l.unit.kind != Unit::Kind::Rewritten && l.unit.kind != Unit::Kind::Deferred;
    if (!good) wanted.push_back({&l.unit, changes ? &r : nullptr});
  }
  builder.makeAll(wanted);
  for (const Builder::Wanted& w : wanted) program.replaced[w.unit] = w.object;
  if (!keepsTexts()) removeTree(texts);
  return program;
}

Program sequential(const Site& site, const LinkInputs& inputs, const std::string& folder) {
  std::vector<Builder::Wanted> wanted;
  for (const LinkedUnit& l : inputs.units)
    if (l.unit.kind == Unit::Kind::Rewritten || l.unit.kind == Unit::Kind::Deferred) checkSource(l), wanted.push_back({&l.unit});
  return compiled(site, std::move(wanted), folder);
}

Program deferredOnly(const Site& site, const LinkInputs& inputs, const std::string& folder) {
  std::vector<Builder::Wanted> wanted;
  for (const LinkedUnit& l : inputs.units)
    if (l.unit.kind == Unit::Kind::Deferred) checkSource(l), wanted.push_back({&l.unit});
  return compiled(site, std::move(wanted), folder);
}

}  // namespace hvdize::wrapper
