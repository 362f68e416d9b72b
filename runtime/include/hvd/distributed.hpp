// SPDX-License-Identifier: Apache-2.0
#pragma once

// The binding of the training core: everything that hvdize inserts into a program (docs/vocabulary.md).

#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/counts.hpp>
#include <hvd/dist/errors.hpp>
#include <hvd/dist/from_root.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/input.hpp>
#include <hvd/dist/lr_rules.hpp>
#include <hvd/dist/memory.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/output.hpp>
#include <hvd/dist/policy.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/sharded.hpp>
#include <hvd/dist/loader_batches.hpp>
#include <hvd/dist/steps.hpp>
