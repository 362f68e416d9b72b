// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/hvd.hpp>

/// Points in three clouds, in float64.
hvd::data::datasets::TensorDataset blobs(int64_t rows);
