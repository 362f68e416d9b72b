// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/convolution.hpp"

#include "device/cudnn/convolution_graph.hpp"
#include "device/cudnn/graph/choice.hpp"
#include "device/cudnn/graph/plan.hpp"
#include "device/cudnn/handle.hpp"

#include <hvd/context.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace hvd::backends::cuda {

namespace {

using rules::Convolution;
using rules::Layout;
using rules::Product;

/// Plans to compare, in the layout that the rule prefers and in the other.
constexpr size_t kMostPlans = 8, kMostOtherPlans = 4;

/// How a problem is computed.
struct Way {
  Layout layout;
  bool fused;  // the bias is added by the plan
  std::shared_ptr<graph::Graph> graph;
  graph::Plan plan;
};

/// A buffer in the layout of a plan: itself, or a copy that is made before the plan runs or taken back behind it.
class Operand4d {
 public:
  Operand4d(const gpu::Gpu& device, const Convolution& c, Layout layout, const rules::Image& image, void* data)
      : device_(device), element_(dtype_size(c.arithmetic.dtype)), n_(image.size[0]), c_(image.size[1]), inner_(image.size[2] * image.size[3]), data_(data),
        copied_(layout == Layout::kNhwc && !(c.alignment == 16 && (c_ == 1 || inner_ == 1))),
        copy_(copied_ ? static_cast<size_t>(n_ * c_ * inner_) * element_ : 0) {}
  void read() const {
    if (copied_) device_.transpose(element_, n_, c_, inner_, data_, copy_.data());
  }
  void write_back() const {
    if (copied_) device_.transpose(element_, n_, inner_, c_, copy_.data(), data_);
  }
  void* data() const { return copied_ ? copy_.data() : data_; }

 private:
  const gpu::Gpu& device_;
  size_t element_;
  int64_t n_, c_, inner_;
  void* data_;
  bool copied_;
  Workspace copy_;
};

void run(const gpu::Gpu& device, cudnnHandle_t handle, const Convolution& c, const Way& way, const ConvolutionBuffers& b) {
  const Window2d& w = c.window;
  const Operand4d x(device, c, way.layout, rules::input_of(w, Layout::kNchw), b.x);
  const Operand4d weight(device, c, way.layout, rules::weight_of(w, Layout::kNchw), b.weight);
  const Operand4d y(device, c, way.layout, rules::output_of(w, Layout::kNchw), b.y);
  const Workspace workspace(way.plan.workspace());
  const Operand4d& written = c.product == Product::kForward ? y : c.product == Product::kGradInput ? x : weight;
  for (const Operand4d* operand : {&x, &weight, &y})
    if (operand != &written) operand->read();
  std::vector<graph::Binding> bindings = {{kConvX, x.data()}, {kConvWeight, weight.data()}, {kConvY, y.data()}};
  if (way.fused) bindings.push_back({kConvBias, b.bias});
  way.plan.run(handle, bindings, workspace.data());
  written.write_back();
  if (c.bias && !way.fused) device.add_bias(c.arithmetic.dtype, w.n, w.k, w.oh * w.ow, b.bias, b.y);
}

/// Plans of one layout, with the bias fused where cuDNN can.
void propose(cudnnHandle_t handle, const Convolution& c, Layout layout, size_t most, std::vector<Way>& ways, std::string& trouble) {
  for (const bool fused : c.bias ? std::vector<bool>{true, false} : std::vector<bool>{false}) {
    try {
      const auto g = std::make_shared<graph::Graph>(convolution_graph(c, layout, fused, {handle, nullptr}));
      graph::Proposals found = graph::proposals(*g, {handle, nullptr}, c.arithmetic, most, kLargestWorkspace);
      for (graph::Plan& plan : found.plans) ways.push_back({layout, fused, g, std::move(plan)});
      if (!found.plans.empty()) return;
      trouble = found.trouble.empty() ? "of " + std::to_string(found.considered) + " engines none keeps the promised arithmetic" : found.trouble;
    } catch (const graph::Failure& failure) {
      trouble = failure.what();
    }
  }
}

std::string named(const Way& way, size_t of) {
  return std::string(rules::name_of(way.layout)) + ", engine " + std::to_string(way.plan.engine()) + (way.fused ? ", bias fused" : "") + ", workspace " +
         std::to_string(way.plan.workspace()) + " bytes, of " + std::to_string(of) + " plans";
}

/// Null: cuDNN has none that works.
std::unique_ptr<Way> search(const gpu::Gpu& device, cudnnHandle_t handle, const Convolution& c, const ConvolutionBuffers& b) {
  std::vector<Way> ways;
  std::string trouble;
  const std::vector<Layout> layouts = rules::layouts(c);
  for (size_t i = 0; i < layouts.size(); ++i) propose(handle, c, layouts[i], i == 0 ? kMostPlans : kMostOtherPlans, ways, trouble);
  const auto best = graph::choose(ways.size(), !c.arithmetic.deterministic, [&](size_t i) { run(device, handle, c, ways[i], b); }, trouble);
  if (!best) {
    graph::report_none(describe(c), trouble);
    return nullptr;
  }
  graph::report(describe(c), named(ways[*best], ways.size()), "");
  return std::make_unique<Way>(std::move(ways[*best]));
}

}  // namespace

bool convolve(const gpu::Gpu& device, Product product, Dtype dtype, const Window2d& window, const ConvolutionBuffers& b) {
  if (graph::use() == graph::Use::kOff) return false;
  int64_t alignment = 16;
  for (const void* operand : {static_cast<const void*>(b.x), static_cast<const void*>(b.weight), static_cast<const void*>(b.y), b.bias})
    if (operand) alignment = std::min(alignment, rules::alignment_of(operand));
  const Convolution c = {product, {dtype, context().deterministic, dtype == Dtype::kFloat32 && context().tf32}, window, b.bias != nullptr, alignment};
  const CudnnLock lock;
  static auto* const known = new std::map<Convolution, std::unique_ptr<Way>>;
  auto place = known->find(c);
  if (place == known->end()) place = known->emplace(c, search(device, lock.handle(), c, b)).first;
  if (!place->second) return false;
  try {
    run(device, lock.handle(), c, *place->second, b);
  } catch (const graph::Failure& failure) {
    fail("cuDNN", failure.in(describe(c)).what());
  }
  return true;
}

}  // namespace hvd::backends::cuda
