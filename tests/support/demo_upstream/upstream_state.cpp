#include "upstream_state.hpp"

#include <thread>

namespace demo {
namespace {

/// Clients leave without notice, so the state is polled.
constexpr std::chrono::milliseconds kLookAgain(2);

UpstreamState look(Upstream& upstream, Endpoint& endpoint) {
  UpstreamState state;
  state.active_calls = endpoint.stateless_calls();
  for (const auto& session : upstream.sessions.all()) {
    ++state.sessions;
    if (session->server_stream()->attached()) ++state.streams;
    state.active_calls += session->calls();
  }
  return state;
}

}  // namespace

std::pair<bool, UpstreamState> wait_for_state(
    Upstream& upstream, Endpoint& endpoint, std::chrono::milliseconds limit,
    const std::function<bool(const UpstreamState&)>& wanted) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto state = look(upstream, endpoint);
    if (wanted(state)) return {true, state};
    if (std::chrono::steady_clock::now() >= end) return {false, state};
    std::this_thread::sleep_for(kLookAgain);
  }
}

}  // namespace demo
