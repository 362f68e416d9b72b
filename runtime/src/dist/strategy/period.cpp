// SPDX-License-Identifier: Apache-2.0
#include "period.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <vector>

namespace hvd::dist {

const char* const kPeriodForms =
    "K, grow:K:E[:MAX], sawtooth:K:E:MAX, inverse-sawtooth:K:E, time:K[:PERCENT], overhead:PERCENT[:MAX] or adaptive:PERCENT[:DRIFT[:MAX]]";

namespace {

using Kind = PeriodRule::Kind;

template <class Number>
bool number(std::string_view text, Number& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size() && to > 0;
}

// Numbers between colons, into as many of `to` as there are; `needed` of them at least.
struct Slot {
  std::int64_t* whole;
  double* real;
};
bool numbers(std::string_view text, std::size_t needed, const std::vector<Slot>& to) {
  std::size_t given = 0;
  for (bool more = true; more; ++given) {
    if (given == to.size()) return false;
    const std::size_t end = text.find(':');
    const std::string_view word = text.substr(0, end);
    if (to[given].whole ? !number(word, *to[given].whole) : !number(word, *to[given].real)) return false;
    more = end != std::string_view::npos;
    if (more) text.remove_prefix(end + 1);
  }
  return given >= needed;
}

}  // namespace

bool read_period(std::string_view text, PeriodRule& rule) {
  const Slot period{&rule.period, nullptr}, epochs{&rule.epochs, nullptr}, longest{&rule.longest, nullptr};
  const Slot percent{nullptr, &rule.percent}, drift{nullptr, &rule.drift};
  struct Form {
    std::string_view name;
    Kind kind;
    std::size_t needed;
    std::vector<Slot> slots;
  };
  const std::vector<Form> forms = {{"grow:", Kind::grow, 2, {period, epochs, longest}},
                                   {"sawtooth:", Kind::sawtooth, 3, {period, epochs, longest}},
                                   {"inverse-sawtooth:", Kind::inverse_sawtooth, 2, {period, epochs}},
                                   {"time:", Kind::time, 1, {period, percent}},
                                   {"overhead:", Kind::overhead, 1, {percent, longest}},
                                   {"adaptive:", Kind::adaptive, 1, {percent, drift, longest}}};
  for (const Form& form : forms) {
    if (!text.starts_with(form.name)) continue;
    rule.kind = form.kind;
    if (rule.measures_means()) rule.period = 1;
    return numbers(text.substr(form.name.size()), form.needed, form.slots) && rule.percent < 100 && rule.period <= rule.longest;
  }
  rule.kind = Kind::fixed;
  return numbers(text, 1, {period});
}

std::string PeriodRule::text() const {
  char text[128];
  std::snprintf(text, sizeof text, "%d:%lld:%lld:%lld:%g:%g", static_cast<int>(kind), static_cast<long long>(period),
                static_cast<long long>(epochs), static_cast<long long>(longest), percent, drift);
  return text;
}

Period::Period(const PeriodRule& rule) : rule_(rule), now_(std::max<std::int64_t>(rule.period, 1)) {}

void Period::set(std::int64_t period) { now_ = std::clamp<std::int64_t>(period, 1, std::max(rule_.longest, rule_.period)); }

void Period::epoch_over(double seconds_per_step) {
  ++epochs_;
  if (rule_.kind == Kind::time) return by_time(seconds_per_step);
  if (epochs_ % rule_.epochs != 0) return;
  if (rule_.kind == Kind::grow) set(now_ * 2);
  if (rule_.kind == Kind::sawtooth) set(now_ * 2 > rule_.longest ? rule_.period : now_ * 2);
  if (rule_.kind == Kind::inverse_sawtooth) set(now_ == 1 ? rule_.period : now_ / 2);
}

// An epoch that is neither quicker nor slower leaves the period where it is.
void Period::by_time(double seconds_per_step) {
  const double margin = rule_.percent / 100;
  if (last_epoch_ == 0 || seconds_per_step < last_epoch_ * (1 - margin)) {
    set(lengthened_ ? now_ * 2 : now_ / 2);
  } else if (seconds_per_step > last_epoch_ * (1 + margin)) {
    lengthened_ = !lengthened_;
    set(lengthened_ ? now_ * 2 : now_ / 2);
  }
  last_epoch_ = seconds_per_step;
}

void Period::mean_taken(double mean_seconds, double step_seconds, double drift) {
  if (!rule_.measures_means() || !(step_seconds > 0)) return;
  // The means' share of the time is m / (m + k s), and p at most for k >= m (1 - p) / (p s).
  const double p = rule_.percent / 100;
  const double shortest = std::ceil(mean_seconds * (1 - p) / (p * step_seconds));
  const auto needed = static_cast<std::int64_t>(std::min(shortest, static_cast<double>(rule_.longest)));
  if (rule_.kind == Kind::overhead) return set(needed);
  if (drift > rule_.drift) set(now_ / 2);
  else if (needed > now_) set(now_ * 2);  // by one measurement not further than to twice as long
  else if (drift < rule_.drift / 2 && needed < now_ / 2) set(now_ / 2);  // nothing to be gained by fewer means
}

}  // namespace hvd::dist
