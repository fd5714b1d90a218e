#include "pipe.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace proxy {
namespace {

constexpr std::size_t kMaxQueued = 1U << 20U;
constexpr std::uint64_t kThrottleStepsPerSecond = 20;

bool is_for_later(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

void Pipe::arm(const std::optional<Limit>& limit) {
  limit_ = limit;
  left_ = limit ? limit->after : 0;
  held_ = false;
}

bool Pipe::wants_to_read() const { return !at_end_ && queued_ < kMaxQueued; }

std::optional<Clock::time_point> Pipe::due() const {
  if (held_ || end_passed_) return std::nullopt;
  if (!chunks_.empty()) return std::max(chunks_.front().due, throttled_);
  if (at_end_) return end_due_;
  return std::nullopt;
}

bool Pipe::wants_to_write(Clock::time_point now) const {
  const auto time = due();
  return time && *time <= now;
}

Pipe::Result Pipe::read(const Socket& from, const Rules& rules, Clock::time_point now) {
  std::array<char, 65536> buffer;
  const auto got = ::recv(from.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return is_for_later(errno) ? Result::kGoesOn : Result::kBroken;
  const auto later = now + rules.delay;
  if (got == 0) {
    at_end_ = true;
    end_due_ = later;
    return Result::kGoesOn;
  }
  const auto size = static_cast<std::size_t>(got);
  chunks_.push_back({later, std::string(buffer.data(), size)});
  queued_ += size;
  return Result::kGoesOn;
}

std::size_t Pipe::allowed(std::size_t wanted, const Rules& rules) const {
  std::uint64_t most = wanted;
  if (limit_) most = std::min(most, left_);
  if (rules.bytes_per_second > 0) {
    most = std::min(most,
                    std::max<std::uint64_t>(1, rules.bytes_per_second / kThrottleStepsPerSecond));
  }
  return static_cast<std::size_t>(most);
}

Pipe::Result Pipe::write(Socket& to, const Rules& rules, Clock::time_point now) {
  while (!chunks_.empty() && wants_to_write(now)) {
    auto& bytes = chunks_.front().bytes;
    const auto size = allowed(bytes.size(), rules);
    if (size == 0) return Result::kLimit;
    const auto sent = ::send(to.get(), bytes.data(), size, MSG_NOSIGNAL);
    if (sent < 0) return is_for_later(errno) ? Result::kGoesOn : Result::kBroken;
    const auto count = static_cast<std::size_t>(sent);
    passed_ += count;
    queued_ -= count;
    if (limit_) left_ -= count;
    if (rules.bytes_per_second > 0) {
      throttled_ =
          now + std::chrono::nanoseconds(1'000'000'000ULL * count / rules.bytes_per_second);
    }
    bytes.erase(0, count);
    if (bytes.empty()) chunks_.pop_front();
  }
  if (!chunks_.empty() || !wants_to_write(now)) return Result::kGoesOn;
  to.finish();
  end_passed_ = true;
  return Result::kEnded;
}

}  // namespace proxy
