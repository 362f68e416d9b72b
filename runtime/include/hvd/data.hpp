// SPDX-License-Identifier: Apache-2.0
/// Data sets, samplers and loaders.
#pragma once

#include <hvd/data/dataloader.hpp>
#include <hvd/data/dataset.hpp>
#include <hvd/data/datasets.hpp>
#include <hvd/data/image_folder.hpp>
#include <hvd/data/samplers.hpp>
#include <hvd/data/text.hpp>
#include <hvd/data/tokenizer.hpp>
#include <hvd/data/transforms.hpp>
