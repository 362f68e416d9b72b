// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace hvd::dist {

namespace {

// One environment variable: `value` is empty when it is not set, or set to nothing.
class Variable {
 public:
  Variable(const char* name, std::string& errors) : name_(name), errors_(errors) {
    if (const char* text = std::getenv(name)) value_ = text;
  }
  bool set() const { return !value_.empty(); }
  const std::string& value() const { return value_; }
  void refuse(const char* expected) const {
    errors_ += std::string("hvd: ") + name_ + "='" + value_ + "' is not understood: " + expected + "\n";
  }
  template <class Number>
  bool number(Number& result, std::string_view text) const {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    return error == std::errc() && end == text.data() + text.size();
  }

 private:
  const char* name_;
  std::string& errors_;
  std::string value_;
};

void read_batch(Settings& s) {
  const Variable v("HVD_BATCH", s.error);
  if (!v.set()) return;
  if (s.policy.batch_fixed()) {
    if (v.value() != "global") v.refuse("global (the size of this program's batches is not known, so it cannot be multiplied)");
    return;
  }
  if (v.value() == "global") s.policy.batch(Batch::global);
  else if (v.value() == "per-rank" || v.value() == "per_rank") s.policy.batch(Batch::per_rank);
  else v.refuse("per-rank or global");
}

void read_rule(Settings& s) {
  const Variable v("HVD_LR_SCALING", s.error);
  if (!v.set()) return;
  if (v.value() == "auto") s.policy.lr_scaling(LrRule::automatic);
  else if (v.value() == "linear") s.policy.lr_scaling(LrRule::linear);
  else if (v.value() == "sqrt") s.policy.lr_scaling(LrRule::sqrt);
  else if (v.value() == "none") s.policy.lr_scaling(LrRule::none);
  else v.refuse("auto, linear, sqrt or none");
}

void read_warmup(Settings& s) {
  const Variable v("HVD_WARMUP", s.error);
  if (!v.set()) return;
  std::string_view text = v.value();
  const bool epochs = text.back() == 'e';
  if (epochs) text.remove_suffix(1);
  std::int64_t n = 0;
  if (!v.number(n, text) || n < 0) return v.refuse("a number of steps (500) or of epochs (2e)");
  s.policy.warmup_steps(epochs ? 0 : n).warmup_epochs(epochs ? n : 0);
}

void read_steps(Settings& s) {
  const Variable v("HVD_STEPS", s.error);
  if (!v.set()) return;
  if (v.value() == "keep") s.policy.divide_steps(false);
  else if (v.value() == "divide") s.policy.divide_steps(true);
  else v.refuse("keep or divide");
}

void read_backend(Settings& s) {
  const Variable v("HVD_BACKEND", s.error);
  if (!v.set() || v.value() == "auto") return;
  if (v.value() == "self") s.backend = BackendChoice::self;
  else if (v.value() == "local") s.backend = BackendChoice::local;
  else if (v.value() == "mpi") s.backend = BackendChoice::mpi;
  else if (v.value() == "threads") s.backend = BackendChoice::threads;
  else if (v.value() == "nccl") s.backend = BackendChoice::nccl;
  else if (v.value() == "mpi_cuda") s.backend = BackendChoice::mpi_cuda;
  else v.refuse("auto, self, local, mpi, nccl, mpi_cuda or threads");
}

void read_server(Settings& s, const Variable& v) {
  constexpr std::string_view kServer = "parameter-server", kAsync = ":async:";
  constexpr std::int64_t kMost = 1000;  // a worker keeps the gradients of so many steps
  std::string_view text = v.value();
  text.remove_prefix(kServer.size());
  s.server = true;
  if (text.empty()) return;
  if (text.starts_with(kAsync) && v.number(s.staleness, text.substr(kAsync.size())) && s.staleness >= 0 && s.staleness <= kMost) return;
  s.staleness = -1;
  v.refuse("parameter-server (workers wait for every step), or parameter-server:async:S (a worker lacks at most S of the server's steps, S from 0 to 1000)");
}

void read_sync(Settings& s) {
  const Variable v("HVD_SYNC", s.error);
  if (!v.set() || v.value() == "step") return;
  if (v.value().starts_with("parameter-server")) return read_server(s, v);
  constexpr std::string_view kPeriodic = "periodic:", kPostLocal = "post-local:", kHierarchical = "hierarchical:";
  std::string_view text = v.value();
  s.hierarchical = text.starts_with(kHierarchical);
  bool good = s.hierarchical || text.starts_with(kPeriodic) || text.starts_with(kPostLocal);
  if (good && text.starts_with(kPostLocal)) {
    text.remove_prefix(kPostLocal.size());
    const std::size_t end = text.find(':');
    good = end != std::string_view::npos && v.number(s.local_after, text.substr(0, end)) && s.local_after >= 1;
    text.remove_prefix(good ? end + 1 : 0);
  } else if (good) {
    text.remove_prefix(s.hierarchical ? kHierarchical.size() : kPeriodic.size());
  }
  if (good && read_period(text, s.rule)) {
    s.period = s.rule.period;
    return;
  }
  const std::string forms = std::string("step, periodic:K (parameters averaged every K steps), post-local:S:K (every step up to step S, then "
                                        "periodic:K), hierarchical:K (every step within a node, averaged over nodes every K steps), parameter-server or parameter-server:async:S (gradients up to S steps old); in place of K: ") + kPeriodForms;
  v.refuse(forms.c_str());
}

// Only where the result does not depend on who takes which rows may a clock decide it.
void read_measured(Settings& s, const Variable& v) {
  constexpr std::string_view kMeasured = "measured";
  constexpr std::int64_t kEvery = 10, kMost = 1'000'000;
  std::string_view text = v.value();
  text.remove_prefix(kMeasured.size());
  s.measured_every = kEvery;
  if (!text.empty() && (!v.number(s.measured_every, text.substr(1)) || s.measured_every < 1 || s.measured_every > kMost)) {
    s.measured_every = 0;
    return v.refuse("measured, or measured:K with the number of optimizer steps between two exchanges of speeds, from 1 to 1000000");
  }
  if (s.policy.batch() != Batch::global) v.refuse("shares are measured with HVD_BATCH=global only; give fixed ones, as in 3,1");
  if (s.period > 0 || s.server) v.refuse("shares are measured with HVD_SYNC=step only; give fixed ones, as in 3,1");
}

void read_shares(Settings& s) {
  constexpr std::int64_t kLargest = 1'000'000;  // shares times rows must fit 64 bits
  const Variable v("HVD_SHARES", s.error);
  std::string_view text = v.value();
  if (text.substr(0, text.find(':')) == "measured") return read_measured(s, v);
  for (bool more = v.set(); more;) {
    const std::size_t end = text.find(',');
    std::int64_t share = 0;
    if (!v.number(share, text.substr(0, end)) || share < 1 || share > kLargest) {
      s.shares.clear();
      return v.refuse("a share from 1 to 1000000 for each rank, as in 3,1, or measured");
    }
    s.shares.push_back(share);
    more = end != std::string_view::npos;
    if (more) text.remove_prefix(end + 1);
  }
  if (!s.shares.empty() && s.server) v.refuse("a parameter server shares batches out equally");
}

void read_node(Settings& s) {
  const Variable v("HVD_NODE_SIZE", s.error);
  if (!v.set()) return;
  if (!v.number(s.node_ranks, v.value()) || s.node_ranks < 1) return v.refuse("a number of ranks from 1 on");
  if (!s.hierarchical) v.refuse("it is for HVD_SYNC=hierarchical");
}

void read_compression_rule(Settings& s) {
  const Variable v("HVD_COMPRESSION", s.error);
  if (!v.set()) return;
  if (!read_compression(v.value(), s.compression))
    return v.refuse("none, bf16, fp16 or powersgd:R (matrices of rank R, from 1 to 1024)");
  if (s.compression && s.period > 0 && s.local_after == 0 && !s.hierarchical)
    s.error += "hvd: HVD_COMPRESSION='" + v.value() + "' is about gradients, and under HVD_SYNC=periodic none are sent\n";
}

void read_check(Settings& s) {
  const Variable v("HVD_CHECK", s.error);
  if (!v.set() || v.value() == "0") return;
  if (v.value() == "1") s.check = true;
  else v.refuse("0 or 1");
}

void read_trace(Settings& s) {
  const Variable v("HVD_TRACE", s.error);
  s.trace = v.value();
}

void read_deadline(Settings& s) {
  const Variable v("HVD_DEADLINE", s.error);
  double seconds = 0;
  if (!v.set()) return;
  if (!v.number(seconds, v.value()) || !(seconds > 0) || seconds > 1e9) return v.refuse("a number of seconds above 0");
  s.deadline = seconds;
}

void read_bucket(Settings& s) {
  const Variable v("HVD_BUCKET_MB", s.error);
  double megabytes = 0;
  if (!v.set()) return;
  if (!v.number(megabytes, v.value()) || !(megabytes > 0) || megabytes > 65536) return v.refuse("a size in MiB above 0");
  s.bucket_bytes = static_cast<std::size_t>(megabytes * 1048576);
}

std::string list_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t n : numbers) {
    if (!text.empty()) text += ',';
    text += std::to_string(n);
  }
  return text;
}

const char* text_of(LrRule rule) {
  switch (rule) {
    case LrRule::automatic: return "auto";
    case LrRule::linear: return "linear";
    case LrRule::sqrt: return "sqrt";
    case LrRule::none: return "none";
  }
  return "?";
}

const char* text_of(BackendChoice backend) {
  switch (backend) {
    case BackendChoice::automatic: return "auto";
    case BackendChoice::self: return "self";
    case BackendChoice::local: return "local";
    case BackendChoice::mpi: return "mpi";
    case BackendChoice::threads: return "threads";
    case BackendChoice::nccl: return "nccl";
    case BackendChoice::mpi_cuda: return "mpi_cuda";
  }
  return "?";
}

}  // namespace

Settings read_settings(const Policy& defaults) {
  Settings s;
  s.policy = defaults;
  read_batch(s);
  read_rule(s);
  read_warmup(s);
  read_steps(s);
  read_backend(s);
  read_deadline(s);
  read_bucket(s);
  read_sync(s);
  read_shares(s);
  read_node(s);
  read_compression_rule(s);
  read_check(s);
  read_trace(s);
  if (s.policy.warmup_steps() < 0 || s.policy.warmup_epochs() < 0)
    s.error += "hvd: the policy's warm-up is negative\n";
  return s;
}

std::string Settings::summary() const {
  std::string text = policy.batch() == Batch::global ? "batch=global" : "batch=per-rank";
  text += std::string(" lr-scaling=") + text_of(policy.lr_scaling());
  text += " warmup=" + (policy.warmup_steps() || !policy.warmup_epochs() ? std::to_string(policy.warmup_steps())
                                                                         : std::to_string(policy.warmup_epochs()) + "e");
  text += std::string(" backend=") + text_of(backend);
  text += policy.divide_steps() ? " steps=divide" : " steps=keep";
  char numbers[200];
  std::snprintf(numbers, sizeof numbers, " deadline=%g bucket=%zu sync=%lld:%s%s check=%d trace=%d", deadline, bucket_bytes,
                static_cast<long long>(local_after), rule.text().c_str(), !server ? "" : staleness < 0 ? ":server" : (":server:async:" + std::to_string(staleness)).c_str(), check, !trace.empty());
  if (!shares.empty()) text += " shares=" + list_of(shares);
  if (measured_every > 0) text.append(" shares=measured:").append(std::to_string(measured_every));
  return text + numbers + " compression=" + compression.text() +
         (hierarchical ? " nodes=" + std::to_string(node_ranks) : "");
}

std::string Settings::misfit(int ranks) const {
  if (shares.empty() || shares.size() == static_cast<std::size_t>(ranks)) return {};
  return "hvd: HVD_SHARES='" + list_of(shares) + "' has " + std::to_string(shares.size()) + (shares.size() == 1 ? " share for " : " shares for ") +
         std::to_string(ranks) + " ranks\n";
}

}  // namespace hvd::dist
