// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hvdize::tool {

/// Where precompiled headers are kept: the folder that HVDIZE_CACHE names, else hvdize's in the user's folder of caches
/// ($XDG_CACHE_HOME, ~/.cache). Empty when HVDIZE_CACHE is "off", or when there is no such folder.
std::string headerCacheFolder();

}  // namespace hvdize::tool
