#include "http/client/idle_connections.hpp"

#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace bridge {
namespace {

constexpr std::size_t max_idle_connections = 16;
/// How long more may be idle, at least.
constexpr std::chrono::milliseconds surplus_time{500};
/// How often curl is made to look for dead connections before that is given up.
constexpr int max_looks = 6;
constexpr std::chrono::milliseconds between_tries{250};

}  // namespace

IdleConnections::IdleConnections(CurlLoop& curl, CURLM* multi)
    : curl_(curl),
      multi_(multi),
      surplus_timer_(curl.loop(), [this] { close_surplus(); }),
      dead_timer_(curl.loop(), [this] { close_dead(); }),
      dead_(curl) {
  bound(0);
}

void IdleConnections::transfer_begins() {
  if (curl_.transfers_.size() > recent_peak_) bound(curl_.transfers_.size());
}

void IdleConnections::bound(std::size_t in_use) {
  recent_peak_ = in_use;
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(in_use + max_idle_connections));
}

void IdleConnections::transfer_ended() {
  if (curl_.sockets_.size() > curl_.transfers_.size() + max_idle_connections)
    surplus_timer_.set_at_latest(curl_.entered_ + surplus_time);
}

/// libcurl 7.88 closes one that was still connecting without its close callback.
void IdleConnections::forget_closed() {
  std::erase_if(curl_.sockets_, [this](const auto& entry) {
    const auto& [descriptor, socket] = entry;
    return curl_.is_idle(socket) && !socket.watch && CurlLoop::inode_of(descriptor) != socket.inode;
  });
}

void IdleConnections::close_surplus() {
  const auto now = curl_.loop().now();
  forget_closed();
  std::vector<std::pair<SteadyTime, int>> idle;
  for (const auto& [descriptor, socket] : curl_.sockets_) {
    if (curl_.is_idle(socket)) idle.emplace_back(socket.idle_since, descriptor);
  }
  std::size_t young = 0;
  SteadyTime youngest{};
  if (idle.size() > max_idle_connections) {
    std::sort(idle.begin(), idle.end());
    idle.resize(idle.size() - max_idle_connections);
    for (const auto& [since, descriptor] : idle) {
      if (since + surplus_time > now) {
        ++young;
        youngest = since;  // they are in order
        continue;
      }
      curl_.shut_down(descriptor);
    }
  }
  bound(curl_.transfers_.size() + young);
  if (young > 0) {
    surplus_timer_.set(youngest + surplus_time);
  } else {
    close_dead_soon();  // not before: curl does not look twice in a second
  }
}

void IdleConnections::end_all() {
  forget_closed();
  for (const auto& [descriptor, socket] : curl_.sockets_) {
    if (curl_.is_idle(socket)) curl_.shut_down(descriptor);
  }
  close_dead_soon();
}

void IdleConnections::close_dead_soon() {
  looks_left_ = max_looks;
  dead_timer_.set(std::max(dead_.next_look(), curl_.loop().now()));
}

void IdleConnections::close_dead() {
  const bool some_left = std::any_of(curl_.sockets_.begin(), curl_.sockets_.end(),
                                     [](const auto& entry) { return entry.second.shut_down; });
  if (!some_left || looks_left_ == 0) return;  // a transfer has begun since
  --looks_left_;
  dead_.close();
  dead_timer_.set_after(between_tries);  // should curl not have looked
}

}  // namespace bridge
