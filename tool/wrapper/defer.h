// SPDX-License-Identifier: Apache-2.0
//
// A unit that the link step would compile again in any case is not compiled before: its object holds the summary, and no code. What else a
// compilation brings is there nevertheless: the dependencies, and the errors that Clang sees.
#pragma once

#include "tool/wrapper/translate.h"

namespace hvdize::wrapper {

/// Does the command ask for nothing but the object and its dependencies, and may the text hold a training step or, with `main`, an
/// optimizer? HVDIZE_DEFER=off: never.
bool mayDefer(const Unit& unit, const Words& dependencies);

/// hvdize has read the unit `alone`: every program that trains with it changes it. Where that is wrong after all, it is compiled at the
/// link as it is written.
bool changesForSure(const Unit& unit, const Rewriting& alone);

/// Writes the object and the dependencies. `defined`: the symbols that others will look for. False when something of that does not work:
/// then the unit is compiled, and the compiler says what is wrong.
bool defer(const Translation& t, const Words& defined);

}  // namespace hvdize::wrapper
