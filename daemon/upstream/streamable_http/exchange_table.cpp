#include "upstream/streamable_http/exchange_table.hpp"

#include <algorithm>
#include <utility>

#include "upstream/streamable_http/http_upstream.hpp"

namespace bridge {
namespace {

/// How long the buffers may be full before an accumulating answer is ended.
constexpr std::chrono::seconds relief_timeout{1};

}  // namespace

ExchangeTable::ExchangeTable(HttpContext& context, HttpUpstream& owner)
    : context_(context),
      owner_(owner),
      clock_(context.curl().loop(), [this] { check_time(); }),
      short_clock_(context.curl().loop(), [this] { check_time(); }),
      relief_(context.curl().loop(), [this] { make_room(); }) {}

Exchange* ExchangeTable::find(UpstreamId id) const {
  const auto found = exchanges_.find(id);
  return found == exchanges_.end() ? nullptr : found->second.get();
}

bool ExchangeTable::has_unfinished(bool server_stream_resumes) const {
  return std::any_of(exchanges_.begin(), exchanges_.end(), [&](const auto& entry) {
    const Exchange& exchange = *entry.second;
    return !exchange.state().is_settled() && !exchange.state().is_endless() &&
           !exchange.survives_upgrade(server_stream_resumes);
  });
}

std::vector<UpstreamId> ExchangeTable::ids() const {
  std::vector<UpstreamId> ids;
  for (const auto& [id, exchange] : exchanges_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

void ExchangeTable::begin_exchange(Outgoing&& message) {
  const UpstreamId id = message.id;
  const bool resumes = !message.resumes_after.empty();
  auto exchange = std::make_unique<Exchange>(context_, owner_, std::move(message));
  Exchange& begun = *exchange;
  spare_.insert(exchanges_, id, std::move(exchange));
  if (resumes) {
    begun.resume();
  } else {
    begun.post();
  }
  watch(begun);
}

void ExchangeTable::restore(SavedMessage saved) {
  const UpstreamId id = saved.message.id;
  auto exchange = std::make_unique<Exchange>(context_, owner_, std::move(saved.message));
  Exchange& restored = *exchange;
  exchanges_[id] = std::move(exchange);
  restored.restore(saved);
  watch(restored);
}

void ExchangeTable::remove(UpstreamId id) {
  const auto found = exchanges_.find(id);
  if (found == exchanges_.end()) return;
  std::unique_ptr<Exchange> exchange = spare_.extract(exchanges_, found);
  exchange->close();
  context_.curl().loop().reap(std::move(exchange));
  if (exchanges_.empty()) short_clock_.clear();
}

void ExchangeTable::watch(const Exchange& exchange) {
  const SteadyTime deadline = exchange.state().deadline();
  if (deadline == SteadyTime::max()) return;
  (exchange.state().ends_soon() ? short_clock_ : clock_).set_at_latest(deadline);
}

void ExchangeTable::check_time() {
  const auto now = context_.now();
  SteadyTime next = SteadyTime::max();
  std::vector<UpstreamId> ended;
  for (const auto& [id, exchange] : exchanges_) {
    exchange->check_time(now, next);
    if (exchange->state().has_ended()) ended.push_back(id);
  }
  for (const UpstreamId id : ended) owner_.exchange_progressed(id);
  if (next != SteadyTime::max()) clock_.set_at_latest(next);
}

// Reading from clients has already stopped. If that does not help, an answer is ended: after a
// delay, because it may be complete in a moment, or at once if the total grows far over the limit.
void ExchangeTable::note_buffers() {
  if (context_.room().has_held()) relief_.set_at_latest(context_.now() + relief_timeout);
  if (!context_.budget().over()) return;
  const auto accumulating =
      std::count_if(exchanges_.begin(), exchanges_.end(),
                    [](const auto& entry) { return entry.second->answer().accumulated() > 0; });
  if (accumulating > 1 && context_.budget().far_over() && largest_that_cannot_wait() != nullptr) {
    relief_.set_at_latest(context_.now());
  } else if (accumulating > 0) {
    relief_.set_at_latest(context_.now() + relief_timeout);
  }
}

void ExchangeTable::look_for_room() {
  for (const UpstreamId id : context_.room().admit()) {
    if (Exchange* const exchange = find(id)) exchange->answer().read_on();
  }
  if (context_.room().has_held()) relief_.set_at_latest(context_.now() + relief_timeout);
}

Exchange* ExchangeTable::largest_that_cannot_wait() const {
  Exchange* largest = nullptr;
  for (const auto& [id, exchange] : exchanges_) {
    if (context_.room().has(id) || exchange->answer().accumulated() < context_.budget().small())
      continue;
    if (largest == nullptr || exchange->answer().accumulated() > largest->answer().accumulated())
      largest = exchange.get();
  }
  return largest;
}

void ExchangeTable::make_room() {
  const SteadyTime now = context_.now();
  if (last_look_ + relief_timeout <= now) {
    last_look_ = now;
    context_.room().note_time();
  }
  if (context_.budget().over()) {
    Exchange* ended = largest_that_cannot_wait();
    if (const auto useless = context_.room().most_useless()) ended = find(*useless);
    if (ended != nullptr) {
      ended->fail(failure_of(ErrorKind::overloaded, Delivered::unknown,
                             "the bridge's buffers are full (--max-buffered)"));
      owner_.exchange_progressed(ended->id());
    }
  }
  look_for_room();
  note_buffers();
}

}  // namespace bridge
