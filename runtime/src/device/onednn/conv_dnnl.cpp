// SPDX-License-Identifier: Apache-2.0
#include "device/onednn/conv_dnnl.hpp"

#include "device/onednn/dnnl.hpp"
#include "device/onednn/parallel.hpp"

#include <array>
#include <map>
#include <unordered_map>

namespace hvd::backends {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

/// The descriptors of a convolution: our buffers are dense, oneDNN may choose its own layouts.
struct Layouts {
  memory::data_type type;
  memory::dims x, weight, y, bias, kernel, stride, dilates, pad;

  Layouts(Dtype dtype, const Window2d& p)
      : type(dnnl_type(dtype)), x{p.n, p.c, p.h, p.w}, weight{p.k, p.c, p.kh, p.kw}, y{p.n, p.k, p.oh, p.ow}, bias{p.k}, kernel{p.kh, p.kw},
        stride{p.stride_h, p.stride_w}, dilates{p.dilation_h - 1, p.dilation_w - 1}, pad{p.pad_h, p.pad_w} {
    if (p.groups > 1) weight = {p.groups, p.k / p.groups, p.c / p.groups, p.kh, p.kw};
  }

  // What lies behind the last window is not read: the padding at the end may be smaller than at the start, or negative.
  memory::dims pad_end() const {
    const auto rest = [&](int d) {
      return (y[d + 2] - 1) * stride[d] + (kernel[d] - 1) * (dilates[d] + 1) + 1 - x[d + 2] - pad[d];
    };
    return {rest(0), rest(1)};
  }
  memory::desc any(const memory::dims& dims) const { return {dims, type, Tag::any}; }
  memory::desc dense(const memory::dims& dims) const {
    return {dims, type, dims.size() == 1 ? Tag::x : dims.size() == 4 ? Tag::abcd : Tag::abcde};
  }
};

memory wrap(const memory::desc& dense, const void* data) { return memory(dense, engine(), const_cast<void*>(data)); }

/// Our buffer in oneDNN's layout: itself, or a reordered copy.
memory as_input(const memory::desc& dense, const void* data, const memory::desc& wanted) {
  memory own = wrap(dense, data);
  if (own.get_desc() == wanted) return own;
  memory theirs(wanted, engine());
  dnnl::reorder(own, theirs).execute(stream(), own, theirs);
  return theirs;
}

/// Where oneDNN writes a result, and how it gets back.
class Output {
 public:
  Output(const memory::desc& dense, void* data, const memory::desc& wanted)
      : own_(wrap(dense, data)), theirs_(own_.get_desc() == wanted ? own_ : memory(wanted, engine())) {}
  const memory& target() const { return theirs_; }
  void finish() {
    if (own_.get() != theirs_.get()) dnnl::reorder(theirs_, own_).execute(stream(), theirs_, own_);
    stream().wait();
  }

 private:
  memory own_;
  memory theirs_;
};

dnnl::convolution_forward::primitive_desc forward_desc(const Layouts& l, bool with_bias) {
  using Forward = dnnl::convolution_forward;
  const auto kind = dnnl::prop_kind::forward_training;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const auto desc = with_bias ? Forward::desc(kind, algorithm, l.any(l.x), l.any(l.weight), l.dense(l.bias),
                                              l.any(l.y), l.stride, l.dilates, l.pad, l.pad_end())
                              : Forward::desc(kind, algorithm, l.any(l.x), l.any(l.weight), l.any(l.y), l.stride,
                                              l.dilates, l.pad, l.pad_end());
  return Forward::primitive_desc(desc, engine());
}

/// What a convolution does.
enum Direction { kForward, kForwardWithBias, kGradInput, kGradWeight };

/// A primitive with its description.
template <class Primitive>
struct Made {
  typename Primitive::primitive_desc desc;
  Primitive primitive;
};

/// The primitive for a window, made when it is first asked for: making one, though oneDNN keeps a cache of its own, takes as long as a small
/// convolution. A thread has its own, for its own number of threads.
template <class Primitive, class Describe>
const Made<Primitive>& primitive_of(Direction direction, Dtype dtype, const Window2d& p, Describe&& describe) {
  constexpr size_t most = 256;  // shapes; a program with more makes them anew
  using Key = std::array<int64_t, 19>;
  static thread_local std::map<Key, Made<Primitive>> made;
  const Key key = {direction, static_cast<int64_t>(dtype), openmp_threads(), p.n, p.c, p.h, p.w, p.k, p.kh, p.kw, p.stride_h, p.stride_w,
                   p.pad_h, p.pad_w, p.oh, p.ow, p.dilation_h, p.dilation_w, p.groups};
  const auto found = made.find(key);
  if (found != made.end()) return found->second;
  if (made.size() >= most) made.clear();
  const auto desc = describe();
  return made.emplace(key, Made<Primitive>{desc, Primitive(desc)}).first->second;
}

}  // namespace

bool dnnl_conv2d(Dtype dtype, const Window2d& p, const void* x, const void* weight, const void* bias, void* y) {
  return supported([&] {
    const Layouts l(dtype, p);
    const auto& made = primitive_of<dnnl::convolution_forward>(bias ? kForwardWithBias : kForward, dtype, p, [&] { return forward_desc(l, bias != nullptr); });
    Output out(l.dense(l.y), y, made.desc.dst_desc());
    Arguments arguments = {{DNNL_ARG_SRC, as_input(l.dense(l.x), x, made.desc.src_desc())},
                           {DNNL_ARG_WEIGHTS, as_input(l.dense(l.weight), weight, made.desc.weights_desc())},
                           {DNNL_ARG_DST, out.target()}};
    if (bias) arguments.emplace(DNNL_ARG_BIAS, wrap(l.dense(l.bias), bias));
    made.primitive.execute(stream(), arguments);
    out.finish();
  });
}

bool dnnl_conv2d_grad_input(Dtype dtype, const Window2d& p, const void* grad, const void* weight, void* grad_x) {
  return supported([&] {
    using Backward = dnnl::convolution_backward_data;
    const Layouts l(dtype, p);
    const auto& made = primitive_of<Backward>(kGradInput, dtype, p, [&] {
      return Backward::primitive_desc(Backward::desc(dnnl::algorithm::convolution_direct, l.any(l.x), l.any(l.weight), l.any(l.y), l.stride, l.dilates,
                                                     l.pad, l.pad_end()),
                                      engine(), forward_desc(l, false));
    });
    Output out(l.dense(l.x), grad_x, made.desc.diff_src_desc());
    made.primitive.execute(stream(), {{DNNL_ARG_DIFF_DST, as_input(l.dense(l.y), grad, made.desc.diff_dst_desc())},
                                      {DNNL_ARG_WEIGHTS, as_input(l.dense(l.weight), weight, made.desc.weights_desc())},
                                      {DNNL_ARG_DIFF_SRC, out.target()}});
    out.finish();
  });
}

bool dnnl_conv2d_grad_weight(Dtype dtype, const Window2d& p, const void* grad, const void* x, void* grad_weight) {
  return supported([&] {
    using Backward = dnnl::convolution_backward_weights;
    const Layouts l(dtype, p);
    const auto& made = primitive_of<Backward>(kGradWeight, dtype, p, [&] {
      return Backward::primitive_desc(Backward::desc(dnnl::algorithm::convolution_direct, l.any(l.x), l.any(l.weight), l.any(l.y), l.stride, l.dilates,
                                                     l.pad, l.pad_end()),
                                      engine(), forward_desc(l, false));
    });
    Output out(l.dense(l.weight), grad_weight, made.desc.diff_weights_desc());
    made.primitive.execute(stream(), {{DNNL_ARG_DIFF_DST, as_input(l.dense(l.y), grad, made.desc.diff_dst_desc())},
                                      {DNNL_ARG_SRC, as_input(l.dense(l.x), x, made.desc.src_desc())},
                                      {DNNL_ARG_DIFF_WEIGHTS, out.target()}});
    out.finish();
  });
}

}  // namespace hvd::backends
