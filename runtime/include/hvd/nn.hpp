// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/batchnorm.hpp>
#include <hvd/nn/functional.hpp>
#include <hvd/nn/holder.hpp>
#include <hvd/nn/init.hpp>
#include <hvd/nn/layers.hpp>
#include <hvd/nn/losses.hpp>
#include <hvd/nn/module.hpp>
#include <hvd/nn/network.hpp>
#include <hvd/nn/sequence.hpp>
#include <hvd/nn/sequential.hpp>
#include <hvd/nn/utils.hpp>
