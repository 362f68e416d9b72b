// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/broadcast.hpp>

#include <algorithm>
#include <sstream>

#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>

#include "core/tensor_impl.hpp"
#include "training.hpp"

namespace hvd {

namespace {

using namespace dist;

std::string describe(const NamedTensor& t) {
  return t.name + " " + dtype_name(t.tensor.dtype()) + " " + to_string(t.tensor.sizes());
}

// Raw values of the root into the tensor, which has the same shape everywhere.
void send(Rank& rank, const NamedTensor& t) {
  const NoGradGuard no_grad;
  const Tensor here = t.tensor.detach();
  const Tensor flat = core::host_copy(here).contiguous();
  const auto n = static_cast<std::size_t>(flat.numel());
  if (is_low_precision(flat.dtype()))  // as bytes: there is nothing to add up
    rank.comm->broadcast(flat.raw_data(), n * dtype_size(flat.dtype()), DataType::uint8, 0, {t.name.c_str()});
  else
    rank.comm->broadcast(flat.raw_data(), n, data_type(flat.dtype()), 0, {t.name.c_str()});
  if (flat.raw_data() != here.raw_data() && rank.rank() != 0) here.copy_(flat);
}

// All ranks must hold the same list; the error reaches all of them and names the first entry that differs.
void check_same(Rank& rank, const std::vector<NamedTensor>& tensors, const char* what) {
  std::string mine;
  for (const NamedTensor& t : tensors) mine += describe(t) + "\n";
  const std::string root = broadcast_text(*rank.comm, mine, 0, {"broadcast"});
  std::string difference;
  if (mine != root) {
    std::istringstream here(mine), there(root);
    std::string a, b;
    do {
      a = b = "nothing";
      std::getline(here, a);
      std::getline(there, b);
    } while (a == b);
    difference = std::string("the ") + what + " of rank " + std::to_string(rank.rank()) + " has '" + a + "' where rank 0 has '" + b + "'";
  }
  std::uint64_t first = difference.empty() ? static_cast<std::uint64_t>(rank.size()) : static_cast<std::uint64_t>(rank.rank());
  rank.comm->allreduce(&first, 1, DataType::uint64, ReduceOp::min, {"broadcast"});
  if (first == static_cast<std::uint64_t>(rank.size())) return;
  throw dist::Failure<Error>("broadcast: " + broadcast_text(*rank.comm, difference, static_cast<int>(first), {"broadcast"}));
}

void broadcast_module(Rank& rank, nn::Module& module) {
  std::vector<NamedTensor> tensors = module.named_parameters();
  for (NamedTensor& buffer : module.named_buffers()) tensors.push_back(std::move(buffer));
  check_same(rank, tensors, "model");
  for (const NamedTensor& t : tensors) send(rank, t);
  for (const auto& child : module.modules())
    if (std::dynamic_pointer_cast<nn::BatchNormImpl>(child)) training(rank).plain_batchnorms.push_back(child);
}

// One line per entry: dtype, number of dimensions, extents, name.
std::string write_list(const std::vector<NamedTensor>& tensors) {
  std::ostringstream out;
  for (const NamedTensor& t : tensors) {
    out << static_cast<int>(t.tensor.dtype()) << ' ' << t.tensor.dim();
    for (const int64_t extent : t.tensor.sizes()) out << ' ' << extent;
    out << ' ' << t.name << '\n';
  }
  return out.str();
}

std::vector<NamedTensor> read_list(const std::string& text) {
  std::vector<NamedTensor> tensors;
  std::istringstream in(text);
  int dtype = 0;
  for (int64_t dims = 0; in >> dtype >> dims;) {
    std::vector<int64_t> sizes(static_cast<std::size_t>(dims));
    for (int64_t& extent : sizes) in >> extent;
    std::string name;
    in >> name;
    tensors.push_back({name, empty(sizes, TensorOptions(static_cast<Dtype>(dtype)).device(kCPU))});
  }
  return tensors;
}

// State appears with the first step: the root may have some where the others have none, so its list is taken over whole.
void broadcast_optimizer(Rank& rank, optim::Optimizer& optimizer) {
  std::vector<NamedTensor> parameters;
  for (const Tensor& p : optimizer.parameters()) parameters.push_back({"parameter " + std::to_string(parameters.size()), p});
  check_same(rank, parameters, "optimizer");
  std::vector<NamedTensor> state;
  if (rank.rank() == 0) state = optimizer.state();
  const std::string list = broadcast_text(*rank.comm, write_list(state), 0, {"optimizer state"});
  if (rank.rank() != 0) state = read_list(list);
  for (const NamedTensor& t : state) send(rank, t);
  if (rank.rank() != 0) optimizer.load_state(state);
}

}  // namespace

void detail::broadcast_items(const std::vector<BroadcastItem>& items) {
  Rank* rank = this_rank();
  if (!rank || rank->size() == 1) return;
  settle();  // what is on its way must not come after this
  for (const BroadcastItem& item : items) {
    if (item.module) broadcast_module(*rank, *item.module);
    if (item.optimizer) {
      broadcast_optimizer(*rank, *item.optimizer);
      agree_on_binding(*rank, *item.optimizer);
    }
    if (item.tensor) {
      const NamedTensor named{"tensor", *item.tensor};
      check_same(*rank, {named}, "tensor");
      send(*rank, named);
    }
  }
  Generator& generator = context().generator;
  const Generator::State state = generator.state();
  std::uint64_t words[2] = {state.seed, state.counter};
  rank->comm->broadcast(words, 2, DataType::uint64, 0, {"random state"});
  generator.set_state({words[0], words[1]});
}

}  // namespace hvd
