// SPDX-License-Identifier: Apache-2.0
// Where batches of N times the size would not fit: in a program whose rows make up a whole number of its batches nothing need keep one within the data, and what it fills row by
// row need not be larger than one of its batches.
#pragma once

namespace clang {
class Expr;
}

namespace hvdize {

struct Model;

/// What a larger batch would go past the end of.
struct Overrun {
  const clang::Expr* at = nullptr;  ///< null: nothing
  enum class Kind {
    End,     ///< `xs[at + k]`, `xs.begin() + at + batch`, in a loop `for (at = 0; at < n; at += batch)` in which nothing else asks where the data end
    Buffer,  ///< `buffer[r]` for each row r of a batch, and the buffer has as many elements as constants say
    Part,    ///< `x.narrow(0, at, 8)`, `at + 8`: as many rows as the batches that are written have, counted from where one begins; no larger batch is all of them
  };
  Kind kind = Kind::End;
};

/// Looks through the training loops whose size of batches is found.
Overrun overrunOf(const Model& m);

}  // namespace hvdize
