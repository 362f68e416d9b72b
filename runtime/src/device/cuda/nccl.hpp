// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hvd::backends::cuda {

/// NCCL's library, from dlopen; null with the reason. HVD_NCCL_LIBRARY names another than libnccl.so.2.
void* load_nccl(std::string& why);

}  // namespace hvd::backends::cuda
