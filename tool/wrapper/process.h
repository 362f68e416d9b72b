// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tool/wrapper/command.h"

namespace hvdize::wrapper {

/// This process becomes the command. Throws std::runtime_error when that fails.
[[noreturn]] void become(const Words& command);

/// Runs a command and waits for it. Its exit status; 128 + the signal that ended it. `folder`: where it runs; `messages`: the file that
/// its standard output and standard error go to; each empty: as here. It ends with this process.
int run(const Words& command, const std::string& folder = "", const std::string& messages = "");

/// As it was given, for the real compiler.
Words commandAsGiven(const Command& command);

/// The same command, through a response file in `folder` where it is too long for the system.
Words shortened(const Words& command, size_t program, const std::string& folder);

}  // namespace hvdize::wrapper
