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

/// Makes curl close the dead connections of its cache, whether they were shut down here or closed
/// by the peer. curl has no call for that: it checks for them when a transfer starts, if a second
/// has passed since its last check. So this starts a transfer that ends before it has a connection:
/// no descriptor is opened and no byte sent.
///
/// Owned by IdleConnections, on the loop's thread.
class DeadConnections final : private CurlTransfer {
 public:
  explicit DeadConnections(CurlLoop& loop) : CurlTransfer(nullptr), loop_(loop) {}
  ~DeadConnections() override { stop(); }
  DeadConnections(const DeadConnections&) = delete;
  DeadConnections& operator=(const DeadConnections&) = delete;

  /// A transfer starts now.
  void note_begin(std::chrono::steady_clock::time_point now);
  /// When curl will check again.
  std::chrono::steady_clock::time_point next_look() const { return last_look_ + between_looks; }
  /// REQUIRES: next_look() has come; otherwise nothing is closed.
  void close();
  /// Ends what is under way, permanently.
  void stop();

 private:
  /// A little more than curl's second, as curl reads its clock later than we do.
  static constexpr std::chrono::milliseconds between_looks{1005};

  int transfer_over(int result) override {
    running_ = false;
    return result;
  }

  CurlLoop& loop_;
  CURL* handle_ = nullptr;
  bool running_ = false;
  std::chrono::steady_clock::time_point last_look_{};
};

/// The idle connections: at most 16, except in the second after a burst, when many clients that
/// call one after the other need them again. The oldest are closed first.
///
/// curl's own limit counts the connections in use as well, and curl closes one whenever a transfer
/// ends above it; so that limit follows the recent peak of transfers, and what remains after a
/// burst is closed here. curl has no call for closing one: it takes a connection that was shut down
/// for dead, and closes it at its next check (DeadConnections).
///
/// The loop's thread only; owned by the CurlLoop, whose sockets it checks.
class IdleConnections {
 public:
  /// `multi` is curl's, and outlives this.
  IdleConnections(CurlLoop& curl, CURLM* multi);

  void transfer_begins();
  /// A transfer has started; `entered` is when curl was called.
  void transfer_begun(SteadyTime entered) { dead_.note_begin(entered); }
  void transfer_ended();
  /// The connections that are idle now are not reused.
  void end_all();
  /// Stops its own transfer; permanent.
  void stop() { dead_.stop(); }

 private:
  void bound(std::size_t in_use);
  void forget_closed();
  void close_surplus();
  void close_dead_soon();
  void close_dead();

  CurlLoop& curl_;
  CURLM* const multi_;
  DeadlineTimer surplus_timer_;
  DeadlineTimer dead_timer_;
  DeadConnections dead_;
  int looks_left_ = 0;
  std::size_t recent_peak_ = 0;  ///< transfers at the same time, recently
};

namespace {

/// Consecutive calls of curl, and rounds of reports, before other descriptors have their turn.
constexpr int max_calls = 8;
constexpr int max_rounds = 8;
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
      idle_(std::make_unique<IdleConnections>(*this, multi_)),
      work_(
          loop, [this] { work(); }, Deferred::Until::end_of_round),
      report_again_(loop, [this] { report(); }) {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Callbacks::socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Callbacks::timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

CurlLoop::~CurlLoop() {
  idle_->stop();
  acting_ = true;
  for (const auto& [handle, transfer] : transfers_) curl_multi_remove_handle(multi_, handle);
  curl_multi_cleanup(multi_);
  for (auto& [descriptor, socket] : sockets_) {
    if (socket.watch) socket.watch->release();
  }
}

// Then curl takes it for dead.
void CurlLoop::shut_down(int descriptor) {
  shutdown(descriptor, SHUT_RDWR);
  sockets_.at(descriptor).shut_down = true;
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
  if (std::exchange(has_added_, false)) idle_->transfer_begun(entered_);
}

void CurlLoop::add(CURL* handle, CurlTransfer& transfer) {
  spare_transfers_.insert(transfers_, handle, {&transfer, ++last_number_});
  transfer.connected_ = false;
  idle_->transfer_begins();
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
  idle_->transfer_ended();
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

void CurlLoop::end_idle_connections() { idle_->end_all(); }

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
      transfer->receiver_->transfer_progressed(false, 0);
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
      idle_->transfer_ended();
      const int reported = transfer->transfer_over(result);
      if (transfer->receiver_ != nullptr) transfer->receiver_->transfer_progressed(true, reported);
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

namespace {

curl_socket_t no_socket(void*, curlsocktype, curl_sockaddr*) { return CURL_SOCKET_BAD; }

}  // namespace

void DeadConnections::stop() {
  if (std::exchange(running_, false)) loop_.remove(handle_, *this);
  if (handle_ != nullptr) curl_easy_cleanup(std::exchange(handle_, nullptr));
}

void DeadConnections::note_begin(std::chrono::steady_clock::time_point now) {
  if (now >= next_look()) last_look_ = now;
}

void DeadConnections::close() {
  if (running_) return;
  if (handle_ == nullptr) {
    handle_ = curl_easy_init();
    curl_easy_setopt(handle_, CURLOPT_URL, "http://127.0.0.1/");  // a number: not resolved
    curl_easy_setopt(handle_, CURLOPT_PROXY, "");
    curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle_, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(handle_, CURLOPT_OPENSOCKETFUNCTION, &no_socket);
  }
  running_ = true;
  loop_.add(handle_, *this);
}

namespace {

constexpr std::size_t max_idle_connections = 16;
/// How long more than the limit may be idle, at least.
constexpr std::chrono::milliseconds surplus_time{500};
/// How often curl is made to check for dead connections before giving up.
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

/// libcurl 7.88 closes a socket that was still connecting without its close callback.
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
        youngest = since;  // sorted by time
        continue;
      }
      curl_.shut_down(descriptor);
    }
  }
  bound(curl_.transfers_.size() + young);
  if (young > 0) {
    surplus_timer_.set(youngest + surplus_time);
  } else {
    close_dead_soon();  // later: curl does not check twice within a second
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
  if (!some_left || looks_left_ == 0) return;  // a transfer has started since
  --looks_left_;
  dead_.close();
  dead_timer_.set_after(between_tries);  // in case curl has not checked
}

}  // namespace bridge
