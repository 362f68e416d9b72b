// SPDX-License-Identifier: Apache-2.0
//
// Reader of pickled data, as far as LibTorch writes it: protocol 2 without code. Objects are their class' name and their state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hvdize::compare {

struct PickleValue;
using Pickle = std::shared_ptr<PickleValue>;

struct PickleValue {
  enum Kind { Nothing, Bool, Int, Float, String, Global, Tuple, List, Dict, Object, Persistent, Mark } kind = Nothing;
  int64_t integer = 0;     ///< Bool, Int
  double real = 0;         ///< Float
  std::string text;        ///< String; Global: "module name"; Object: its class
  std::vector<Pickle> items;                      ///< Tuple, List; Object: the arguments it was made with; Persistent: the one item
  std::vector<std::pair<Pickle, Pickle>> entries;  ///< Dict
  Pickle state;                                    ///< Object: what BUILD gave it
};

/// Throws CheckpointError on an operation that LibTorch does not write, or a stream that ends too early.
Pickle readPickle(const std::string& bytes);

}  // namespace hvdize::compare
