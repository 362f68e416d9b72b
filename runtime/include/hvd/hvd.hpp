// SPDX-License-Identifier: Apache-2.0
/// The training core: everything a sequential trainer needs.
#pragma once

#include <hvd/amp.hpp>
#include <hvd/context.hpp>
#include <hvd/device.hpp>
#include <hvd/measure.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>
#include <hvd/random.hpp>
#include <hvd/step_graph.hpp>
#include <hvd/tensor.hpp>

#if __has_include(<hvd/data.hpp>)
#include <hvd/data.hpp>
#endif
#if __has_include(<hvd/checkpoint.hpp>)
#include <hvd/checkpoint.hpp>
#endif
