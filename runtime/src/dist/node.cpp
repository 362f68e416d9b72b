// SPDX-License-Identifier: Apache-2.0

// Which ranks are a node: those of one host, or so many one after another as HVD_NODE_SIZE says.

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "check.hpp"
#include "rank.hpp"

namespace hvd::dist {

namespace {

// The same for processes that run under one kernel and its name.
std::uint64_t this_host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a
  for (const char c : name + ("/" + boot)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

}  // namespace

std::string Rank::open_node() {
  const std::uint64_t mine = settings.node_ranks > 0 ? static_cast<std::uint64_t>(rank() / settings.node_ranks) : this_host();
  std::vector<std::uint64_t> nodes(static_cast<std::size_t>(size())), firsts;
  comm->allgather(&mine, 1, nodes.data(), DataType::uint64, {"nodes"});
  node_members.clear();
  for (int r = 0; r < size(); ++r) {
    const std::uint64_t of = nodes[static_cast<std::size_t>(r)];
    if (of == mine) node_members.push_back(r);
    if (std::find(firsts.begin(), firsts.end(), of) == firsts.end()) firsts.push_back(of);
  }
  node_number = static_cast<int>(std::find(firsts.begin(), firsts.end(), mine) - firsts.begin());
  node = comm->among(node_members, settings.deadline);
  if (!node) return "hvd: HVD_SYNC=hierarchical: ranks of one node cannot reach each other's memory\n";
  node->watch(board.get(), kMainChannel);
  node->set_partial(true);
  node->set_urgent(true);
  if (settings.check) node->check(std::make_shared<CollectiveCheck>(*this));
  return {};
}

}  // namespace hvd::dist
