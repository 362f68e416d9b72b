// SPDX-License-Identifier: Apache-2.0
// Beside the source: found by a quote include, also from the rewritten file.
#pragma once

constexpr int kEpochs = 2;
