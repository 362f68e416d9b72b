// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/options.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace hvdize::wrapper {
namespace {

template <size_t N>
bool isOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool startsWith(std::string_view word, std::string_view with) { return word.substr(0, with.size()) == with; }

std::string_view fileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view extension(std::string_view path) {
  const std::string_view name = fileName(path);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

/// "x86_64-linux-gnu-g++-12" is "g++" here.
std::string_view plainName(const std::string& program) {
  std::string_view name = fileName(program);
  while (!name.empty() && (std::isdigit(static_cast<unsigned char>(name.back())) || name.back() == '.')) name.remove_suffix(1);
  if (!name.empty() && name.back() == '-') name.remove_suffix(1);
  return name;
}

}  // namespace

bool takesNextWord(std::string_view option) {
  static constexpr std::array<std::string_view, 52> options = {
      "-o", "-x", "-I", "-D", "-U", "-L", "-l", "-F", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-include-pch", "-iprefix",
      "-iwithprefix", "-iwithprefixbefore", "-isysroot", "--sysroot", "-MF", "-MT", "-MQ", "-MJ", "-Xlinker", "-Xassembler", "-Xpreprocessor",
      "-Xclang", "-Xcompiler", "-Xptxas", "-Xnvlink", "-Xcudafe", "-Xopenmp-target", "-gencode", "-ccbin", "-odir", "-target", "-T", "-u", "-z", "-e",
      "-A", "-G", "-B", "-aux-info", "--param", "-arch", "-framework", "-dumpbase", "-dumpdir", "-dumpbase-ext", "-mllvm", "-ivfsoverlay"};
  return isOneOf(option, options);
}

bool asksOnly(std::string_view option) {
  static constexpr std::array<std::string_view, 21> options = {
      "-E", "-S", "-M", "-MM", "-fsyntax-only", "-v", "-###", "--version", "-V", "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dumpspecs",
      "--help", "--target-help", "-emit-llvm", "-emit-ast", "--precompile", "-save-temps", "--dryrun", "--preprocess"};
  return isOneOf(option, options) || startsWith(option, "-print-") || startsWith(option, "--print-") || startsWith(option, "--help=") ||
         startsWith(option, "-save-temps=") || startsWith(option, "-dM") || startsWith(option, "--analyze");
}

bool isDependencyOption(std::string_view option) {
  static constexpr std::array<std::string_view, 8> options = {"-MD", "-MMD", "-MF", "-MT", "-MQ", "-MP", "-MG", "-MJ"};
  return isOneOf(option, options) || (option.size() > 3 && (startsWith(option, "-MF") || startsWith(option, "-MT") || startsWith(option, "-MQ"))) ||
         startsWith(option, "-Wp,-MD") || startsWith(option, "-Wp,-MMD");
}

bool isLinkOption(std::string_view option) {
  static constexpr std::array<std::string_view, 17> options = {"-L", "-l", "-Xlinker", "-T", "-u", "-z", "-e", "-shared", "-static", "-rdynamic",
                                                               "-pie", "-no-pie", "-s", "-nostdlib", "-nodefaultlibs", "-nostartfiles", "-framework"};
  return isOneOf(option, options) || startsWith(option, "-Wl,") || startsWith(option, "-l") || (startsWith(option, "-L") && option.size() > 2) ||
         startsWith(option, "-fuse-ld") || startsWith(option, "-static-") || startsWith(option, "-shared-");
}

bool decidesParsing(std::string_view word) {
  static constexpr std::array<std::string_view, 22> whole = {
      "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot", "--sysroot", "-nostdinc", "-nostdinc++", "-undef", "-ansi", "-pthread",
      "-fopenmp", "-fexceptions", "-fno-exceptions", "-frtti", "-fno-rtti", "-funsigned-char", "-fsigned-char", "-fchar8_t", "-fno-char8_t", "-fcoroutines"};
  if (isOneOf(word, whole)) return true;
  for (std::string_view prefix : {"-I", "-D", "-U", "-std=", "--std=", "-stdlib=", "--sysroot=", "-O", "-isystem", "-iquote", "-idirafter", "-march=", "-m32", "-m64", "-mavx",
                                  "-msse", "-mfma", "-fPIC", "-fpic", "-fPIE", "-ffast-math", "-fconcepts", "-ftemplate-depth", "-fconstexpr-depth"})
    if (startsWith(word, prefix)) return true;
  return false;
}

bool makesObjectOnly(std::string_view word) {
  static constexpr std::array<std::string_view, 13> whole = {"-isystem", "-iquote", "-idirafter", "-isysroot", "--sysroot", "-nostdinc", "-nostdinc++",
                                                             "-ansi",    "-pthread", "-pipe",    "-w",        "-pedantic", "-undef"};
  static constexpr std::array<std::string_view, 8> begins = {"-I", "-D", "-U", "-std=", "-stdlib=", "--sysroot=", "-O", "-m"};
  // Dumps, listings, profiles, statistics, modules; and code that only the linker makes.
  static constexpr std::array<std::string_view, 32> aside = {
      "-fdump", "-fprofile", "-fno-profile", "-fauto-profile", "-fbranch", "-ftest-coverage", "-fcoverage", "-fcs-", "-fstack-usage", "-fcallgraph", "-fopt-info", "-fsave", "-foptimization",
      "-ftime", "-fmem", "-fmodule", "-fno-module", "-fimplicit", "-fprebuilt", "-fbuiltin-module", "-fdeps", "-flto", "-fthin", "-ffat", "-fwhole-program", "-fplugin", "-fpass-plugin", "-fdiagnostics-add",
      "-fdiagnostics-generate", "-fdiagnostics-format", "-fcompare-debug", "-fsyntax-only"};
  if (isOneOf(word, whole)) return true;
  const auto any = [&](const auto& list) { return std::any_of(list.begin(), list.end(), [&](std::string_view with) { return startsWith(word, with); }); };
  if (any(begins)) return word != "-mllvm";
  // The real compiler's errors come when it compiles: a warning that is one must not wait.
  if (startsWith(word, "-W")) return !startsWith(word, "-Werror") && !startsWith(word, "-Wa,") && !startsWith(word, "-Wp,");
  if (startsWith(word, "-g")) return word != "-gencode" && !startsWith(word, "-gsplit-dwarf") && !startsWith(word, "-gpu");
  return startsWith(word, "-f") && !any(aside) && !startsWith(word, "-framework");
}

Language languageOfFile(const std::string& file) {
  static constexpr std::array<std::string_view, 8> cxx = {"cpp", "cc", "cxx", "c++", "C", "CPP", "cp", "CC"};
  static constexpr std::array<std::string_view, 17> other = {"c", "i", "s", "S", "sx", "m", "mm", "M", "h", "hpp", "hh", "H", "hxx", "f", "f90", "go", "d"};
  const std::string_view end = extension(file);
  if (isOneOf(end, cxx)) return Language::Cxx;
  if (end == "cu") return Language::Cuda;
  if (end == "ii") return Language::Preprocessed;
  if (isOneOf(end, other)) return Language::Other;
  return Language::LinkerInput;
}

Language languageNamed(std::string_view name) {
  if (name == "c++") return Language::Cxx;
  if (name == "cuda" || name == "cu") return Language::Cuda;
  if (name == "c++-cpp-output") return Language::Preprocessed;
  return Language::Other;
}

bool looksLikeLauncher(const std::string& program) {
  static constexpr std::array<std::string_view, 6> names = {"ccache", "sccache", "distcc", "icecc", "buildcache", "fastcache"};
  return isOneOf(plainName(program), names);
}

bool looksLikeCompiler(const std::string& program) {
  static constexpr std::array<std::string_view, 17> names = {"c++", "g++", "gcc", "cc", "clang", "clang++", "nvcc", "icpx", "icx", "icpc", "hipcc",
                                                             "mpicxx", "mpic++", "mpiCC", "mpicc", "dpcpp", "amdclang++"};
  const std::string_view name = plainName(program);
  if (isOneOf(name, names)) return true;
  for (std::string_view n : names)  // a cross compiler: "aarch64-linux-gnu-g++"
    if (name.size() > n.size() + 1 && name.substr(name.size() - n.size()) == n && name[name.size() - n.size() - 1] == '-') return true;
  return looksLikeLauncher(program);
}

}  // namespace hvdize::wrapper
