// SPDX-License-Identifier: Apache-2.0
// Includes nothing: what it uses comes with the precompiled header.
int64_t parameters_of(const Net& net) { return static_cast<int64_t>(net->parameters().size()); }
