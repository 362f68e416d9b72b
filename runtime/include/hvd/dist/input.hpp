// SPDX-License-Identifier: Apache-2.0
#pragma once

// Standard input is the root's: a launcher gives it to one process.

#include <iosfwd>

#include <hvd/dist/call_site.hpp>

namespace hvd {

/// `root_input(std::cin) >> n`: a stream of the same text on all ranks. The root reads `stream` line by line, as far as a rank's
/// extraction needs it, and sends the line to all; end of file and failed extractions are therefore the same everywhere. What is read
/// from the stream is collective: all ranks must read the same. The stream lives as long as the thread; a further call gives the same
/// one. With one rank it is `stream` itself.
std::istream& root_input(std::istream& stream, CallSite site = CallSite::here());

}  // namespace hvd
