// SPDX-License-Identifier: Apache-2.0
#pragma once

// The binding of LibTorch (1.13 to 2.x): everything that hvdize inserts into a program (docs/vocabulary.md, docs/torch.md).

#include <hvd/dist/errors.hpp>
#include <hvd/dist/from_root.hpp>
#include <hvd/dist/input.hpp>
#include <hvd/dist/output.hpp>
#include <hvd/dist/policy.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/slices.hpp>
#include <hvd/torch/batches.hpp>
#include <hvd/torch/broadcast.hpp>
#include <hvd/torch/counts.hpp>
#include <hvd/torch/device.hpp>
#include <hvd/torch/errors.hpp>
#include <hvd/torch/gradients.hpp>
#include <hvd/torch/loader_batches.hpp>
#include <hvd/torch/loaders.hpp>
#include <hvd/torch/lr_rules.hpp>
#include <hvd/torch/numbers.hpp>
