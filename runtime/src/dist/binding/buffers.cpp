// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/slices.hpp>

#include <algorithm>

#include "core/tensor_impl.hpp"
#include "training.hpp"

namespace hvd {

namespace {

using namespace dist;

// Sum over ranks of weight * value, one message for all floating-point buffers. Weight 0 selects zero.
std::vector<double> weighted_mean(Rank& rank, const std::vector<Tensor>& buffers, double weight, const OpName& name) {
  std::vector<double> values;
  for (const Tensor& buffer : buffers) {
    const Tensor wide = core::host_copy(buffer).to(kFloat64).contiguous();
    const double* data = wide.data_ptr<double>();
    for (int64_t i = 0; i < wide.numel(); ++i) values.push_back(weight == 0 ? 0 : weight * data[i]);
  }
  rank.comm->allreduce(values.data(), values.size(), DataType::float64, ReduceOp::sum, name);
  return values;
}

}  // namespace

void dist::StepStatistics::all_reduce_sum(double* values, size_t count, const char* name) {
  // Outside a step all ranks hold the same batch, and its statistics.
  detail::refuse_beside_whole(name);
  if (context().current_slice) rank_.comm->allreduce(values, count, DataType::float64, ReduceOp::sum, {name});
}

void sync_batchnorm() {
  Rank* rank = this_rank();
  if (!rank || rank->size() == 1) return;
  context().statistics_reducer = &training(*rank).statistics;
}

void sync_batchnorm(nn::Module&) { sync_batchnorm(); }

void sync_buffers(nn::Module& model, CallSite site) {
  Rank* rank = this_rank();
  if (!rank || rank->size() == 1) return;
  settle();
  const NoGradGuard no_grad;
  Training& state = training(*rank);
  std::int64_t& at_sync = state.rows_at_sync[&model];
  const double mine = static_cast<double>(state.rows - at_sync);
  at_sync = state.rows;
  const double all = sum_over_ranks(*rank, mine, op_name("sync_buffers", site));
  if (all == 0) return;  // nobody has trained since: still the same everywhere
  std::vector<Tensor> floats;
  for (const NamedTensor& buffer : model.named_buffers()) {
    if (is_floating_point(buffer.tensor.dtype())) {
      floats.push_back(buffer.tensor);
    } else {
      const Tensor flat = core::host_copy(buffer.tensor).contiguous();
      rank->comm->broadcast(flat.raw_data(), static_cast<std::size_t>(flat.numel()), data_type(flat.dtype()), 0,
                            op_name("sync_buffers", site));
      buffer.tensor.copy_(flat);
    }
  }
  const std::vector<double> mean = weighted_mean(*rank, floats, mine / all, op_name("sync_buffers", site));
  const double* next = mean.data();
  for (const Tensor& buffer : floats) {
    const Tensor wide = core::make_for_host(buffer.sizes(), kFloat64, buffer.device());
    std::copy_n(next, wide.numel(), wide.data_ptr<double>());
    next += wide.numel();
    buffer.copy_(wide);
  }
}

}  // namespace hvd
