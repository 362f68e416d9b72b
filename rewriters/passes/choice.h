// SPDX-License-Identifier: Apache-2.0
// Which passes run: all, unless the author leaves some out (--passes).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>

namespace hvdize {

/// Reads "-output,-device": the passes that do not run, in their order. From left to right, "-NAME" leaves a pass out, "NAME" takes it in
/// again, and "*" stands for all ("-*,session,output"). Nothing, with `*error`, for a name that is no pass, and where a pass that runs
/// needs one that does not.
std::optional<std::vector<std::string>> passesLeftOut(llvm::StringRef list, std::string* error);

/// What the distributed program does not keep without this pass.
llvm::StringRef withoutPass(llvm::StringRef name);

}  // namespace hvdize
