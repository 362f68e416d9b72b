// SPDX-License-Identifier: Apache-2.0
#include "rank.hpp"

#include <algorithm>
#include <stdexcept>

#include <hvd/dist/failure.hpp>
#include <hvd/dist/memory.hpp>
#include <hvd/dist/slices.hpp>

#include "backends.hpp"
#include "check.hpp"

namespace hvd::dist {

Rank::Rank(std::unique_ptr<Communicator> c, std::unique_ptr<ProgressBoard> b, const Settings& s)
    : board(std::move(b)), comm(std::move(c)), settings(s) {
  comm->watch(board.get(), kMainChannel);
  comm->set_urgent(true);
}

Rank::~Rank() {
  training.reset();  // its threads use the communicators
}

std::string broadcast_text(Communicator& comm, std::string text, int root, const OpName& name) {
  std::uint64_t length = text.size();
  comm.broadcast(&length, 1, DataType::uint64, root, name);
  text.resize(length);
  comm.broadcast(text.data(), length, DataType::uint8, root, name);
  return text;
}

std::string Rank::adopt(const Settings& s) {
  settings = s;
  local_phase = s.period > 0 && s.local_after == 0 && !s.hierarchical;
  if (size() == 1) return s.error.empty() ? open_trace() : s.error;
  // Every rank's complaint in turn, the same ones once; then a difference between good values.
  std::string error;
  const std::string mine = s.summary(), complaint = s.error + s.misfit(size());
  for (int r = 0; r < size(); ++r) {
    const std::string theirs = broadcast_text(*comm, complaint, r, {"policy"});
    if (!theirs.empty() && error.find(theirs) == std::string::npos) error += theirs;
  }
  std::string root;
  for (int r = 0; r < size(); ++r) {
    const std::string theirs = broadcast_text(*comm, mine, r, {"policy"});
    if (r == 0) root = theirs;
    if (theirs == root || !error.empty()) continue;
    error = "hvd: rank " + std::to_string(r) + " runs under another policy than rank 0: " + theirs + " against " + root +
            " (are the HVD_... variables and the binaries the same on all hosts?)\n";
  }
  if (error.empty()) error = open_trace();
  if (error.empty() && s.check) begin_check();
  if (error.empty() && s.hierarchical) error = open_node();
  if (error.empty() && s.measured_every > 0) measure_shares(s.measured_every);
  return error;
}

std::string Rank::open_trace() {
  if (settings.trace.empty()) return {};
  try {
    begin_trace(settings.trace);
    return {};
  } catch (const std::exception& error) {
    return "hvd: " + std::string(error.what()) + "\n";
  }
}

std::int64_t Rank::summed_rows(const Slice& mine) const {
  if (!node) return mine.global_rows;
  std::int64_t rows = 0;
  for (const int member : node_members) rows += slice_of(mine, member).rows;
  return rows;
}

void Rank::measure_shares(std::int64_t every) {
  measured = std::make_unique<MeasuredShares>(*this, every);
  comm->meter(&measured->meter);
}

void Rank::begin_check() {
  settings.check = true;
  comm->check(std::make_shared<CollectiveCheck>(*this));
}

}  // namespace hvd::dist

std::shared_ptr<void> hvd::alloc(std::size_t bytes) {
  dist::Rank* rank = dist::this_rank();
  return rank ? rank->comm->allocate(bytes) : dist::make_self()->allocate(bytes);
}

namespace hvd::dist {

bool Rank::leaves_none_without(const Slice& mine) const {
  for (int r = serves() ? 1 : 0; r < size(); ++r)
    if (slice_of(mine, r).filler) return false;
  return true;
}

Slice slice_of(std::int64_t global_rows, int rank) {
  const Rank* here = this_rank();
  return slice_of(Slice{global_rows, 0, 0, false, here && here->measured ? here->measured->now() : 0}, rank);
}

Slice slice_of(const Slice& mine, int rank) {
  const Rank* here = this_rank();
  const int ranks = here ? here->size() : 1;
  const std::int64_t global_rows = mine.global_rows;
  if (ranks > 1 && here->measured && mine.split > 0) {
    Slice slice = cut_by_measured(*here->measured->shares(mine.split), global_rows, rank);
    slice.split = mine.split;
    return slice;
  }
  if (ranks > 1 && !here->settings.shares.empty()) return cut_by(here->settings.shares, global_rows, rank);
  if (!here || !here->serves()) return cut(global_rows, rank, ranks);
  if (rank == 0) return Slice{global_rows, 0, 0, true};
  const std::int64_t workers = ranks - 1, worker = rank - 1, each = global_rows / workers, more = global_rows % workers;
  const std::int64_t first = worker * each + std::min(worker, more), rows = each + (worker < more);
  return Slice{global_rows, first, rows, rows == 0};
}

void settle() {
  Rank* rank = this_rank();
  if (rank && rank->size() > 1 && rank->strategy) rank->strategy->settle();
}

void begin_batch() {
  if (Rank* rank = this_rank()) ++rank->batches;
}

void refuse_measured_shares(const char* what) {
  const Rank* rank = this_rank();
  if (rank && rank->measured)
    throw dist::Failure<std::runtime_error>(std::string("HVD_SHARES=measured: ") + what + ", whose rows must fit those of other batches in a step; give fixed shares, such as HVD_SHARES=3,1");
}

void body_over(bool outermost) {
  Rank* rank = this_rank();
  if (rank && rank->measured) rank->measured->body_over(outermost);
}

void after_step(bool pass_over) {
  Rank* rank = this_rank();
  if (rank && rank->measured && pass_over) rank->measured->pass_edge();
  if (rank && rank->size() > 1 && rank->strategy) rank->strategy->after_step(pass_over);
}

Rank& require_rank(const char* what) {
  Rank* rank = this_rank();
  if (!rank) throw std::logic_error(std::string(what) + " is called outside of a hvd::Session");
  return *rank;
}

}  // namespace hvd::dist
