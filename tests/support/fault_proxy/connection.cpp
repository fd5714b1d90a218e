#include "connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace proxy {
namespace {

constexpr std::chrono::seconds kCutTime(2);
constexpr short kBroken = POLLERR | POLLNVAL;

/// Discards the available bytes; false at the end.
bool discard(Socket& socket) {
  if (!socket.is_open()) return false;
  std::array<char, 65536> buffer;
  for (;;) {
    const auto got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    return got < 0 && errno == EAGAIN;
  }
}

short events(bool reads, bool writes) {
  return static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
}

}  // namespace

Connection::Connection(Socket client, const Rules& rules) : client_(std::move(client)) {
  up_.arm(rules.up);
  down_.arm(rules.down);
}

void Connection::begin(const sockaddr_in& server) {
  server_ = connect_to(server);
  state_ = State::kConnecting;
}

std::array<pollfd, 2> Connection::interest(Clock::time_point now) const {
  std::array<pollfd, 2> entries{{{-1, 0, 0}, {-1, 0, 0}}};
  switch (state_) {
    case State::kParked:
      // Errors only; the end of its stream is reported once it is served.
      entries[0] = {client_.get(), 0, 0};
      break;
    case State::kConnecting: entries[1] = {server_.get(), POLLOUT, 0}; break;
    case State::kOpen: {
      const auto client = events(up_.wants_to_read(), down_.wants_to_write(now));
      const auto server = events(down_.wants_to_read(), up_.wants_to_write(now));
      // A socket without interest is left out: a closed one would report POLLHUP repeatedly.
      if (client != 0) entries[0] = {client_.get(), client, 0};
      if (server != 0) entries[1] = {server_.get(), server, 0};
      break;
    }
    case State::kCut:
      if (client_.is_open()) entries[0] = {client_.get(), POLLIN, 0};
      if (server_.is_open()) entries[1] = {server_.get(), POLLIN, 0};
      break;
    case State::kGone: break;
  }
  return entries;
}

std::optional<Clock::time_point> Connection::next_due(Clock::time_point now) const {
  if (state_ == State::kCut) return cut_until_;
  if (state_ != State::kOpen) return std::nullopt;
  std::optional<Clock::time_point> earliest;
  for (const auto* pipe : {&up_, &down_}) {
    const auto due = pipe->due();
    // Data that is due already waits for its socket, which poll reports.
    if (due && *due > now && (!earliest || *due < *earliest)) earliest = due;
  }
  return earliest;
}

Connection::Step Connection::step(const std::array<pollfd, 2>& ready, const Rules& rules,
                                  Clock::time_point now) {
  if (state_ == State::kParked && (ready[0].revents & (kBroken | POLLHUP)) != 0) reset();
  if (state_ == State::kCut) drain(now);
  if (state_ == State::kConnecting && (ready[1].revents != 0 || !server_.is_open())) {
    return connected();
  }
  if (state_ != State::kOpen) return {};

  auto result = Pipe::Result::kGoesOn;
  if (ready[0].revents != 0 && up_.wants_to_read()) result = up_.read(client_, rules, now);
  if (result == Pipe::Result::kBroken) return reset(), Step{};
  if (ready[1].revents != 0 && down_.wants_to_read()) result = down_.read(server_, rules, now);
  if (result == Pipe::Result::kBroken) return reset(), Step{};

  for (const auto direction : {Direction::kUp, Direction::kDown}) {
    auto& destination = direction == Direction::kUp ? server_ : client_;
    result = pipe(direction).write(destination, rules, now);
    if (result == Pipe::Result::kBroken) return reset(), Step{};
    if (result == Pipe::Result::kLimit) {
      apply(*pipe(direction).limit(), direction, now);
      return {direction, false};
    }
  }
  if (up_.ended() && down_.ended()) state_ = State::kGone;
  return {};
}

Connection::Step Connection::connected() {
  if (server_.is_open() && connect_error(server_) == 0) {
    state_ = State::kOpen;
    return {};
  }
  reset();
  return {std::nullopt, true};
}

void Connection::apply(const Limit& limit, Direction direction, Clock::time_point now) {
  switch (limit.kind) {
    case Limit::Kind::kCut: return cut(now);
    case Limit::Kind::kReset: return reset();
    case Limit::Kind::kHang: return pipe(direction).hold();
  }
}

void Connection::cut(Clock::time_point now) {
  if (state_ == State::kCut || state_ == State::kGone) return;
  client_.finish();
  if (server_.is_open()) server_.finish();
  cut_until_ = now + kCutTime;
  state_ = State::kCut;
}

void Connection::drain(Clock::time_point now) {
  // Closing with unread bytes would be a reset, so they are read until the peer closes too.
  if (!discard(client_)) client_.close();
  if (!discard(server_)) server_.close();
  if (now >= cut_until_ || (!client_.is_open() && !server_.is_open())) state_ = State::kGone;
}

void Connection::reset() {
  if (client_.is_open()) client_.reset();
  if (server_.is_open()) server_.reset();
  state_ = State::kGone;
}

}  // namespace proxy
