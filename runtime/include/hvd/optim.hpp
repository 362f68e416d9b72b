// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/optim/adam.hpp>
#include <hvd/optim/large_batch.hpp>
#include <hvd/optim/optimizer.hpp>
#include <hvd/optim/rmsprop.hpp>
#include <hvd/optim/schedulers.hpp>
#include <hvd/optim/sgd.hpp>
