// The least that a relay by libcurl costs: a line from a Unix socket becomes a POST, its body a
// line. Nothing is parsed, checked or bounded. The daemon is compared with it, so it is tuned
// the same way: handles reused, descriptors kept registered, curl's timer kept out of the
// kernel.
#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/sockets.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Client {
  explicit Client(bench::Descriptor accepted) : connection(std::move(accepted)) {}

  bench::Descriptor connection;
  std::string input;
  bool gone = false;
};

struct Call {
  CURL* handle = nullptr;
  std::shared_ptr<Client> client;
  std::string request;
  std::string answer;
};

class Relay {
 public:
  Relay(const std::string& socket, std::string url, const std::string& session)
      : listener_(bench::listen_unix(socket)),
        url_(std::move(url)),
        poller_(epoll_create1(EPOLL_CLOEXEC)),
        multi_(curl_multi_init()) {
    const std::string named = "Mcp-Session-Id: " + session;
    for (const char* header :
         {"Accept: application/json, text/event-stream", "Content-Type: application/json",
          "MCP-Protocol-Version: 2025-11-25", "Expect:", named.c_str()}) {
      headers_ = curl_slist_append(headers_, header);
    }
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Relay::socket_changed);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Relay::timer_changed);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 64L);
    watch(listener_.get(), EPOLLIN, EPOLL_CTL_ADD);
  }

  [[noreturn]] void run() {
    for (;;) {
      std::array<epoll_event, 64> events;
      const int ready =
          epoll_wait(poller_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
      for (int i = 0; i < ready; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        dispatch(event.data.fd, event.events);
      }
      if (deadline_ && *deadline_ <= Clock::now()) {
        deadline_.reset();
        act(CURL_SOCKET_TIMEOUT, 0);
      }
    }
  }

 private:
  static int socket_changed(CURL*, curl_socket_t fd, int what, void* self, void*) {
    auto& relay = *static_cast<Relay*>(self);
    // An idle connection stays registered; dispatch() handles its events.
    std::uint32_t& registered = relay.upstreams_[fd];
    if (what == CURL_POLL_REMOVE) return 0;
    const std::uint32_t wanted =
        (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    if (wanted == registered) return 0;
    relay.watch(fd, wanted, registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD);
    registered = wanted;
    return 0;
  }

  static int timer_changed(CURLM*, long milliseconds, void* self) {
    auto& relay = *static_cast<Relay*>(self);
    relay.deadline_.reset();
    if (milliseconds == 0) relay.kick_ = true;
    if (milliseconds > 0) relay.deadline_ = Clock::now() + std::chrono::milliseconds(milliseconds);
    return 0;
  }

  static int close_socket(void* self, curl_socket_t fd) {
    static_cast<Relay*>(self)->upstreams_.erase(fd);
    return close(fd);
  }

  static std::size_t body_came(char* bytes, std::size_t, std::size_t count, void* call) {
    static_cast<Call*>(call)->answer.append(bytes, count);
    return count;
  }

  int wait_ms() const {
    if (!deadline_) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
    return static_cast<int>(left > 0 ? left : 0);
  }

  void watch(int fd, std::uint32_t events, int operation) {
    epoll_event event{events, {.fd = fd}};
    if (epoll_ctl(poller_.get(), operation, fd, &event) != 0) bench::fail("epoll_ctl");
  }

  void dispatch(int fd, std::uint32_t events) {
    if (fd == listener_.get()) {
      accept_client();
    } else if (const auto client = clients_.find(fd); client != clients_.end()) {
      read_client(client->second);
    } else if (upstreams_.contains(fd)) {
      act(fd, (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                  (events & ~std::uint32_t{EPOLLOUT} ? CURL_CSELECT_IN : 0));
    }
  }

  void accept_client() {
    bench::Descriptor accepted(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const int fd = accepted.get();
    if (fd < 0) return;
    clients_[fd] = std::make_shared<Client>(std::move(accepted));
    watch(fd, EPOLLIN, EPOLL_CTL_ADD);
  }

  void read_client(std::shared_ptr<Client> client) {
    std::array<char, 65536> bytes;
    const ssize_t got = recv(client->connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      clients_.erase(client->connection.get());
      client->gone = true;
      client->connection.reset();
      return;
    }
    const std::size_t searched = client->input.size();
    client->input.append(bytes.data(), static_cast<std::size_t>(got));
    for (std::size_t end = client->input.find('\n', searched); end != client->input.npos;
         end = client->input.find('\n')) {
      start_call(client, client->input.substr(0, end));
      client->input.erase(0, end + 1);
    }
    settle();
  }

  std::unique_ptr<Call> new_call() {
    if (!idle_.empty()) {
      auto call = std::move(idle_.back());
      idle_.pop_back();
      return call;
    }
    auto call = std::make_unique<Call>();
    call->handle = curl_easy_init();
    curl_easy_setopt(call->handle, CURLOPT_URL, url_.c_str());
    curl_easy_setopt(call->handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(call->handle, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(call->handle, CURLOPT_PROXY, "");
    curl_easy_setopt(call->handle, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(call->handle, CURLOPT_WRITEFUNCTION, &Relay::body_came);
    curl_easy_setopt(call->handle, CURLOPT_WRITEDATA, call.get());
    curl_easy_setopt(call->handle, CURLOPT_CLOSESOCKETFUNCTION, &Relay::close_socket);
    curl_easy_setopt(call->handle, CURLOPT_CLOSESOCKETDATA, this);
    curl_easy_setopt(call->handle, CURLOPT_PRIVATE, call.get());
    return call;
  }

  void start_call(const std::shared_ptr<Client>& client, std::string request) {
    Call* const call = new_call().release();
    call->client = client;
    call->request = std::move(request);
    call->answer.clear();
    curl_easy_setopt(call->handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(call->request.size()));
    curl_easy_setopt(call->handle, CURLOPT_POSTFIELDS, call->request.data());
    curl_multi_add_handle(multi_, call->handle);
  }

  void act(int fd, int events) {
    int running = 0;
    curl_multi_socket_action(multi_, fd, events, &running);
    settle();
  }

  void settle() {
    int running = 0, left = 0;
    while (std::exchange(kick_, false))
      curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      Call* call = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
      curl_multi_remove_handle(multi_, message->easy_handle);
      call->answer += '\n';
      if (!call->client->gone) bench::write_all(call->client->connection.get(), call->answer);
      call->client.reset();
      idle_.emplace_back(call);
    }
  }

  bench::Descriptor listener_;
  std::string url_;
  bench::Descriptor poller_;
  CURLM* multi_;
  curl_slist* headers_ = nullptr;
  std::unordered_map<int, std::shared_ptr<Client>> clients_;
  std::unordered_map<int, std::uint32_t> upstreams_;  ///< and the events each is registered for
  std::vector<std::unique_ptr<Call>> idle_;
  std::optional<Clock::time_point> deadline_;
  bool kick_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bare-relay SOCKET URL SESSION\n");
    return 64;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    curl_global_init(CURL_GLOBAL_ALL);
    Relay(argv[1], argv[2], argv[3]).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bare-relay: %s\n", error.what());
    return 1;
  }
}
