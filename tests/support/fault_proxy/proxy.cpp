#include "proxy.hpp"

#include <fmt/format.h>

namespace proxy {

void Proxy::set_limit(Direction direction, std::optional<Limit> limit) {
  (direction == Direction::kUp ? rules_.up : rules_.down) = limit;
  for (auto& connection : connections_) connection.pipe(direction).arm(limit);
}

void Proxy::set_accept_hang(bool on) {
  rules_.accept_hang = on;
  if (on) return;
  for (auto& connection : connections_) {
    if (!connection.begun()) connection.begin(server_);
  }
}

bool Proxy::set_refuse(bool on) {
  if (on == reserved_.is_open()) return true;
  if (on) {
    listener_.close();
    reserved_ = reserve(address_);
    return reserved_.is_open();
  }
  if (!listen(reserved_)) return false;
  listener_ = std::move(reserved_);
  return true;
}

void Proxy::cut_all(Clock::time_point now) {
  for (auto& connection : connections_) connection.cut(now);
}

void Proxy::reset_all() {
  for (auto& connection : connections_) connection.reset();
}

void Proxy::hang_all() {
  for (auto& connection : connections_) {
    for (const auto direction : {Direction::kUp, Direction::kDown})
      connection.pipe(direction).hold();
  }
}

bool Proxy::pass() {
  rules_.delay = std::chrono::milliseconds(0);
  rules_.bytes_per_second = 0;
  set_limit(Direction::kUp, std::nullopt);
  set_limit(Direction::kDown, std::nullopt);
  set_accept_hang(false);
  return set_refuse(false);
}

std::string Proxy::stats() const {
  auto all = counters_;
  std::size_t open = 0;
  for (const auto& connection : connections_) {
    if (!connection.gone()) ++open;
    all.up += connection.passed(Direction::kUp);
    all.down += connection.passed(Direction::kDown);
  }
  return fmt::format(
      R"({{"accepted":{},"open":{},"up":{},"down":{},"refusedByServer":{},"fired":{}}})",
      all.accepted, open, all.up, all.down, all.refused_by_server, all.fired);
}

void Proxy::accept_all() {
  for (;;) {
    auto client = accept_from(listener_);
    if (!client.is_open()) return;
    ++counters_.accepted;
    auto& connection = connections_.emplace_back(std::move(client), rules_);
    if (!rules_.accept_hang) connection.begin(server_);
  }
}

void Proxy::step(Connection& connection, const std::array<pollfd, 2>& ready,
                 Clock::time_point now) {
  const auto step = connection.step(ready, rules_, now);
  if (step.refused) ++counters_.refused_by_server;
  if (!step.fired) return;
  ++counters_.fired;
  const auto limit = rules_.limit(*step.fired);
  if (!limit || !limit->once) return;
  // Removed for the others; this connection keeps its state, even if hanging.
  (*step.fired == Direction::kUp ? rules_.up : rules_.down).reset();
  for (auto& other : connections_) {
    if (&other != &connection) other.pipe(*step.fired).arm(std::nullopt);
  }
}

void Proxy::forget_gone() {
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    if (!connection->gone()) {
      ++connection;
      continue;
    }
    counters_.up += connection->passed(Direction::kUp);
    counters_.down += connection->passed(Direction::kDown);
    connection = connections_.erase(connection);
  }
}

}  // namespace proxy
