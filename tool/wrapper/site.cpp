// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/site.h"

#include <cstdlib>
#include <sstream>

#include "tool/wrapper/files.h"

namespace hvdize::wrapper {

Words wordsOfVariable(const char* name) {
  const char* text = std::getenv(name);
  std::istringstream in(text ? text : "");
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

Site findSite() {
  Site site;
  const std::string program = realPath("/proc/self/exe");
  const std::string prefix = folderOf(folderOf(program));
  site.hvdize = folderOf(program) + "/hvdize";
  if (exists(prefix + "/include/hvd/distributed.hpp")) site.includes = {prefix + "/include"};
  else site.includes = {HVDIZE_BUILD_INCLUDE, HVDIZE_BUILD_TORCH_INCLUDE};
  for (const char* folder : {HVDIZE_LIBDIR, "lib", "lib64"})
    if (site.libraries.empty() && exists(prefix + "/" + folder + "/libhvd_runtime.so")) site.libraries = prefix + "/" + folder;
  const char* named = std::getenv("HVDIZE_CXX");
  site.compiler = named && *named ? named : exists(HVDIZE_CXX_DEFAULT) ? HVDIZE_CXX_DEFAULT : "c++";
  const char* off = std::getenv("HVDIZE");
  site.off = off && std::string(off) == "off";
  site.environmentOptions = wordsOfVariable("HVDIZE_FLAGS");
  return site;
}

std::string Site::identity() const { return hvdize + " " + stampOf(hvdize); }

}  // namespace hvdize::wrapper
