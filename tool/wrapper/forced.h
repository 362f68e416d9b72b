// SPDX-License-Identifier: Apache-2.0
// Files that a command has included in front of the source (-include), as CMake does with the header that it precompiles for a target.
#pragma once

#include "tool/wrapper/rewrite.h"

namespace hvdize::wrapper {

/// Of `flags`, as seen from `folder`: the files, absolute where they exist there. Clang's "-Xclang -include -Xclang FILE" is one, too.
Words forcedIncludes(const Words& flags, const std::string& folder);

/// `flags` for a reader of text: "-include FILE" for Clang's form, without the precompiled headers that CMake names in front of the text
/// that they are made of.
Words asText(const Words& flags);

/// `flags` without any of these.
Words withoutForced(const Words& flags);

/// `flags` with the new text of each such file that `rewriting` has changed. Precompiled headers of Clang then hold the old one, and are
/// left out; GCC looks for them beside the text.
Words withNewTexts(const Words& flags, const std::string& folder, const Rewriting& rewriting);

/// Whether a source that is compiled with `flags` reads another text than before: its own, or one of these.
bool concerns(const Rewriting& rewriting, const std::string& source, const Words& flags, const std::string& folder);

}  // namespace hvdize::wrapper
