// SPDX-License-Identifier: Apache-2.0
#include <hvd/nn/init.hpp>

#include <cmath>

namespace hvd::nn::init {

namespace {

struct Fans {
  double in, out;
};

Fans fans(const Tensor& t, const char* name) {
  if (t.dim() < 2) throw Error(std::string(name) + ": a tensor of 2 or more dimensions expected, not " + to_string(t.sizes()));
  const double field = static_cast<double>(t.numel()) / static_cast<double>(t.size(0) * t.size(1));
  return {static_cast<double>(t.size(1)) * field, static_cast<double>(t.size(0)) * field};
}

}  // namespace

Tensor uniform_(const Tensor& tensor, double low, double high) {
  const NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}
Tensor normal_(const Tensor& tensor, double mean, double std) {
  const NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}
Tensor constant_(const Tensor& tensor, Scalar value) {
  const NoGradGuard no_grad;
  return tensor.fill_(value);
}
Tensor zeros_(const Tensor& tensor) { return constant_(tensor, 0); }
Tensor ones_(const Tensor& tensor) { return constant_(tensor, 1); }

Tensor kaiming_uniform_(const Tensor& tensor, double a) {
  const double bound = std::sqrt(6 / ((1 + a * a) * fans(tensor, "kaiming_uniform_").in));
  return uniform_(tensor, -bound, bound);
}
Tensor kaiming_normal_(const Tensor& tensor, double a) {
  return normal_(tensor, 0, std::sqrt(2 / ((1 + a * a) * fans(tensor, "kaiming_normal_").in)));
}
Tensor xavier_uniform_(const Tensor& tensor, double gain) {
  const Fans f = fans(tensor, "xavier_uniform_");
  const double bound = gain * std::sqrt(6 / (f.in + f.out));
  return uniform_(tensor, -bound, bound);
}
Tensor xavier_normal_(const Tensor& tensor, double gain) {
  const Fans f = fans(tensor, "xavier_normal_");
  return normal_(tensor, 0, gain * std::sqrt(2 / (f.in + f.out)));
}

}  // namespace hvd::nn::init
