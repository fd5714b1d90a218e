#include "http/client/curl_loop.hpp"

#include <curl/curl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "event/event_loop.hpp"

namespace bridge {

namespace {

/// Consecutive calls of curl, and rounds of reports, before other descriptors have their turn.
constexpr int max_calls = 8;
constexpr int max_rounds = 8;

constexpr std::size_t max_idle_connections = 16;
/// How long more than the limit may be idle, at least.
constexpr std::chrono::milliseconds surplus_time{500};

}  // namespace

/// 0 if the descriptor is not open.
ino_t CurlLoop::inode_of(int descriptor) {
  struct stat about {};
  return fstat(descriptor, &about) == 0 ? about.st_ino : 0;
}

struct CurlLoop::Callbacks {
  static int socket(CURL* user, curl_socket_t descriptor, int what, void* self, void*) {
    static_cast<CurlLoop*>(self)->set_interest(user, descriptor, what);
    return 0;
  }

  static int timer(CURLM*, long milliseconds, void* self) {
    auto& loop = *static_cast<CurlLoop*>(self);
    if (milliseconds < 0) {
      loop.timer_.clear();
    } else if (milliseconds == 0) {
      loop.kick_ = true;
    } else {
      loop.timer_.set_after(std::chrono::milliseconds(milliseconds));
    }
    return 0;
  }

  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address) {
    return static_cast<CurlLoop*>(self)->open_socket(address->family, address->socktype,
                                                     address->protocol);
  }

  static int close_socket(void* self, curl_socket_t descriptor) {
    auto& sockets = static_cast<CurlLoop*>(self)->sockets_;
    const auto found = sockets.find(descriptor);
    if (found != sockets.end()) {
      static_cast<CurlLoop*>(self)->note_connected(found->second, descriptor);
      if (found->second.watch) found->second.watch->release();
      sockets.erase(found);
    }
    return close(descriptor);
  }
};

int CurlLoop::open_socket(int family, int type, int protocol) {
  const int descriptor = ::socket(family, type | SOCK_CLOEXEC, protocol);
  if (descriptor < 0) return CURL_SOCKET_BAD;
  Socket& known = sockets_[descriptor];
  if (known.watch) known.watch->release();
  known = Socket{};
  known.ours = true;
  known.inode = inode_of(descriptor);
  return descriptor;
}

CurlLoop::CurlLoop(EventLoop& loop)
    : loop_(loop),
      multi_(curl_multi_init()),
      timer_(loop,
             [this] {
               kick_ = true;
               work();
             }),
      surplus_timer_(loop, [this] { close_surplus_connections(); }),
      work_(
          loop, [this] { work(); }, Deferred::Until::end_of_round),
      report_again_(loop, [this] { report(); }) {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Callbacks::socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Callbacks::timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  bound_connections(0);
}

CurlLoop::~CurlLoop() {
  acting_ = true;
  for (const auto& [handle, transfer] : transfers_) curl_multi_remove_handle(multi_, handle);
  curl_multi_cleanup(multi_);
  for (auto& [descriptor, socket] : sockets_) {
    if (socket.watch) socket.watch->release();
  }
}

/// Detects here whether a transfer's own connection was established, since curl's versions report
/// it differently: a socket that has a peer is connected.
void CurlLoop::note_connected(const Socket& socket, int descriptor) {
  const auto running = transfers_.find(socket.user);
  if (!socket.ours || running == transfers_.end() || running->second.number != socket.use) return;
  if (running->second.transfer->connected_) return;
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  running->second.transfer->connected_ =
      getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0;
}

// A paused transfer's socket also has no interest; the earlier transfers of a handle are over.
bool CurlLoop::is_idle(const Socket& socket) const {
  if (!socket.ours || socket.interest != 0 || socket.shut_down) return false;
  const auto user = transfers_.find(socket.user);
  return user == transfers_.end() || user->second.number != socket.use;
}

void CurlLoop::prepare(CURL* handle) {
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, &Callbacks::open_socket);
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, &Callbacks::close_socket);
  curl_easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, this);
}

void CurlLoop::set_interest(CURL* user, int descriptor, int what) {
  Socket& socket = sockets_[descriptor];
  if (const auto running = transfers_.find(user); running != transfers_.end()) {
    socket.user = user;
    socket.use = running->second.number;
  }
  const int before = std::exchange(socket.interest, what == CURL_POLL_REMOVE ? 0 : what);
  if (what == CURL_POLL_REMOVE) {
    socket.idle_since = entered_;
    // A finished connection stays registered. Anything else (the resolver's, or one that was still
    // connecting) curl may close without telling.
    if (socket.ours && before == CURL_POLL_IN) return;
    if (socket.watch) socket.watch->release();
    socket.watch.reset();
    if (!socket.ours) sockets_.erase(descriptor);
    return;
  }
  if (!socket.watch) {
    socket.watch = std::make_unique<DescriptorWatch>(
        loop_, descriptor,
        [this, descriptor](DescriptorWatch::Event event) { socket_ready(descriptor, event); });
  }
  rearm(descriptor);
}

void CurlLoop::rearm(int descriptor) {
  const auto found = sockets_.find(descriptor);
  if (found == sockets_.end() || !found->second.watch) return;
  const Socket& socket = found->second;
  if ((socket.interest & CURL_POLL_IN) != 0) socket.watch->want(DescriptorWatch::Event::readable);
  if ((socket.interest & CURL_POLL_OUT) != 0) socket.watch->want(DescriptorWatch::Event::writable);
}

void CurlLoop::socket_ready(int descriptor, DescriptorWatch::Event event) {
  const auto found = sockets_.find(descriptor);
  if (found == sockets_.end()) return;
  const bool reads = event == DescriptorWatch::Event::readable;
  if (found->second.ready == 0) ready_sockets_.push_back(descriptor);
  found->second.ready |= reads ? CURL_POLL_IN : CURL_POLL_OUT;
  work_.schedule();
}

void CurlLoop::work() {
  work_.cancel();
  tell_ready_sockets();
  drive();
  report();
}

void CurlLoop::tell_ready_sockets() {
  if (ready_sockets_.empty()) return;
  acting_ = true;
  entered_ = loop_.now();
  int running = 0;
  sockets_reported_.swap(ready_sockets_);
  for (const int descriptor : sockets_reported_) {
    const auto found = sockets_.find(descriptor);
    if (found == sockets_.end()) continue;
    const int ready = std::exchange(found->second.ready, 0) & found->second.interest;
    if (ready == 0) continue;
    curl_multi_socket_action(multi_, descriptor,
                             ((ready & CURL_POLL_IN) != 0 ? CURL_CSELECT_IN : 0) |
                                 ((ready & CURL_POLL_OUT) != 0 ? CURL_CSELECT_OUT : 0),
                             &running);
    rearm(descriptor);
  }
  sockets_reported_.clear();
  acting_ = false;
}

// Calls curl while it asks to be called at once, but stops when there is something to report: with
// a fast upstream curl would ask forever.
void CurlLoop::drive() {
  for (int calls = 0; kick_ && ready_.empty() && calls < max_calls; ++calls) call_curl();
}

/// Also sends what was added, as far as curl can do that at once.
void CurlLoop::call_curl() {
  acting_ = true;
  entered_ = loop_.now();
  kick_ = false;
  int running = 0;
  curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  acting_ = false;
  has_added_ = false;
}

void CurlLoop::add(CURL* handle, CurlTransfer& transfer) {
  spare_transfers_.insert(transfers_, handle, {&transfer, ++last_number_});
  transfer.connected_ = false;
  if (transfers_.size() > recent_peak_) bound_connections(transfers_.size());
  curl_multi_add_handle(multi_, handle);
  if (acting_) return;
  has_added_ = true;
  report_later();
}

void CurlLoop::remove(CURL* handle, CurlTransfer& transfer) {
  if (has_added_ && !acting_) call_curl();  // perhaps this one: what was to be sent has left
  if (const auto running = transfers_.find(handle); running != transfers_.end()) {
    spare_transfers_.extract(transfers_, running);
    curl_multi_remove_handle(multi_, handle);
  }
  if (transfer.ready_) {
    std::replace(ready_.begin(), ready_.end(), &transfer, static_cast<CurlTransfer*>(nullptr));
    transfer.ready_ = false;
  }
  close_surplus_later();
  if (kick_) report_later();
}

void CurlLoop::pause(CURL* handle, bool paused) {
  if (!transfers_.contains(handle)) return;
  if (has_added_ && !acting_) call_curl();  // curl forgets a pause set before the start
  acting_ = true;
  entered_ = loop_.now();
  curl_easy_pause(handle, paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
  acting_ = false;
  drive();
  if (!paused || kick_) report_later();
}

void CurlLoop::mark_ready(CurlTransfer& transfer) {
  if (std::exchange(transfer.ready_, true)) return;
  ready_.push_back(&transfer);
}

void CurlLoop::report_later() {
  if (!reporting_) work_.schedule();
}

// What remains after some rounds waits until the loop has handled its other descriptors.
void CurlLoop::report() {
  if (reporting_) return;
  reporting_ = true;
  bool more = true;
  for (int rounds = 0; more && rounds < max_rounds; ++rounds) {
    more = false;
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      CurlTransfer* transfer = ready_[i];
      if (transfer == nullptr) continue;
      transfer->ready_ = false;
      ready_[i] = nullptr;
      transfer->receiver_.transfer_progressed(false, 0);
    }
    ready_.clear();
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const auto found = transfers_.find(message->easy_handle);
      if (found == transfers_.end()) continue;
      CurlTransfer* transfer = found->second.transfer;
      const int result = message->data.result;
      // Marked before it ended: the end reports that as well.
      std::replace(ready_.begin(), ready_.end(), transfer, static_cast<CurlTransfer*>(nullptr));
      transfer->ready_ = false;
      CURL* const handle = message->easy_handle;  // invalid after the message
      curl_multi_remove_handle(multi_, handle);
      if (result != CURLE_OK) {
        for (const auto& [descriptor, socket] : sockets_) note_connected(socket, descriptor);
      }
      spare_transfers_.extract(transfers_, found);
      close_surplus_later();
      const int reported = transfer->transfer_over(result);
      transfer->receiver_.transfer_progressed(true, reported);
      more = true;
    }
    // Removing a transfer may make curl ask to be called for another one.
    if (kick_) {
      drive();
      more = true;
    }
    more = more || !ready_.empty();
  }
  reporting_ = false;
  if (more) report_again_.set(loop_.now());
}

// curl closes one connection whenever a transfer ends above its limit, which counts those in use.
void CurlLoop::bound_connections(std::size_t in_use) {
  recent_peak_ = in_use;
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(in_use + max_idle_connections));
}

void CurlLoop::close_surplus_later() {
  if (sockets_.size() > transfers_.size() + max_idle_connections)
    surplus_timer_.set_at_latest(entered_ + surplus_time);
}

std::vector<CurlLoop::SocketOfDescriptor*> CurlLoop::idle_connections() {
  // libcurl 7.88 closes a socket that was still connecting without its close callback.
  std::erase_if(sockets_, [this](const SocketOfDescriptor& entry) {
    const auto& [descriptor, socket] = entry;
    return is_idle(socket) && !socket.watch && inode_of(descriptor) != socket.inode;
  });
  std::vector<SocketOfDescriptor*> idle;
  for (SocketOfDescriptor& entry : sockets_) {
    if (is_idle(entry.second)) idle.push_back(&entry);
  }
  return idle;
}

void CurlLoop::end_connection(SocketOfDescriptor& connection) {
  shutdown(connection.first, SHUT_RDWR);
  connection.second.shut_down = true;
}

void CurlLoop::end_idle_connections() {
  for (SocketOfDescriptor* connection : idle_connections()) end_connection(*connection);
}

void CurlLoop::close_surplus_connections() {
  auto idle = idle_connections();
  const std::size_t surplus = idle.size() - std::min(idle.size(), max_idle_connections);
  std::sort(idle.begin(), idle.end(),
            [](auto* a, auto* b) { return a->second.idle_since < b->second.idle_since; });
  const SteadyTime old = loop_.now() - surplus_time;
  std::size_t ended = 0;
  for (; ended < surplus && idle[ended]->second.idle_since <= old; ++ended)
    end_connection(*idle[ended]);
  bound_connections(transfers_.size() + surplus - ended);
  if (ended < surplus) surplus_timer_.set(idle[surplus - 1]->second.idle_since + surplus_time);
}

}  // namespace bridge
