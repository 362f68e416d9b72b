// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/graph/descriptor.hpp"

namespace hvd::backends::cuda::graph {

void require(cudnnStatus_t status, const std::string& call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char reason[1024] = "";
  cudnnGetLastErrorString(reason, sizeof reason);
  std::string text = call + ": " + cudnnGetErrorString(status);
  if (*reason) text += std::string(" (") + reason + ")";
  throw Failure(status, text);
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type, const char* kind) : kind_(kind) {
  require(cudnnBackendCreateDescriptor(type, &descriptor_), std::string("cudnnBackendCreateDescriptor of ") + kind_);
}

Descriptor::~Descriptor() {
  if (descriptor_) cudnnBackendDestroyDescriptor(descriptor_);
}

void Descriptor::set_raw(Attribute attribute, cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  const cudnnStatus_t status = cudnnBackendSetAttribute(descriptor_, attribute.number, type, count, values);
  if (status != CUDNN_STATUS_SUCCESS) require(status, std::string("cudnnBackendSetAttribute of ") + kind_ + ", " + attribute.name);
}

void Descriptor::get_raw(Attribute attribute, cudnnBackendAttributeType_t type, int64_t most, int64_t* count, void* values) const {
  const cudnnStatus_t status = cudnnBackendGetAttribute(descriptor_, attribute.number, type, most, count, values);
  if (status != CUDNN_STATUS_SUCCESS) require(status, std::string("cudnnBackendGetAttribute of ") + kind_ + ", " + attribute.name);
}

void Descriptor::fill(Attribute attribute, const Descriptor& place) const {
  cudnnBackendDescriptor_t at = place.descriptor_;
  int64_t count = 0;
  get_raw(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &at);
}

int64_t Descriptor::count(Attribute attribute, cudnnBackendAttributeType_t type) const {
  int64_t count = 0;
  get_raw(attribute, type, 0, &count, nullptr);
  return count;
}

void Descriptor::finish() {
  const cudnnStatus_t status = cudnnBackendFinalize(descriptor_);
  if (status != CUDNN_STATUS_SUCCESS) require(status, std::string("cudnnBackendFinalize of ") + kind_);
}

}  // namespace hvd::backends::cuda::graph
