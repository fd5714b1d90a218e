#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "harness.hpp"
#include "http/server/http_connection.hpp"

// A whole connection: for any bytes of a caller, in any pieces, whether it reads, waits or stops
// sending, every request gets one response in order, held memory is bounded, and after all timeouts
// the connection has ended.

namespace {

using bridge::HttpConnection;

constexpr std::size_t max_body = 4096;
/// One read, bytes that came too early, a head and its body, and unread responses.
constexpr std::size_t most_held = (64u << 10) * 4 + (32u << 10) + max_body;

class StillClock final : public bridge::Clock {
 public:
  bridge::SteadyTime now() const override { return now_; }
  bridge::WallTime wall_time() const override { return {}; }
  void advance(std::chrono::milliseconds time) { now_ += time; }

 private:
  bridge::SteadyTime now_ = bridge::SteadyTime{} + std::chrono::hours(1);
};

/// Responds at once, later, or by a stream, depending on the request's path.
class Answers final : public bridge::HttpRequests, public bridge::HttpResponder {
 public:
  bridge::Admission request_begins(const bridge::HttpConnection&, const bridge::RequestHead& head,
                                   bool) override {
    if (head.path == "/no") return {bridge::text_response(401, "no"), true};
    return {{}, head.path != "/nobody"};
  }
  bridge::HttpResponse refusal(int status, std::string_view reason) const override {
    return bridge::text_response(status, std::string(reason));
  }
  void request(HttpConnection& connection, bridge::RequestHead head,
               bridge::ReceivedText text) override {
    std::string body = std::move(text);
    MUST(waiting == nullptr);
    MUST(body.size() <= max_body);
    if (head.path == "/later") {
      waiting = &connection;
      connection.set_responder(this);
    } else if (head.path == "/stream") {
      connection.begin_stream({200, "text/event-stream", {}, {}});
      connection.write_stream(body);
      connection.end_stream();
    } else {
      connection.respond(bridge::text_response(200, std::move(body)));
    }
  }
  void answer_what_waits() {
    if (waiting == nullptr) return;
    HttpConnection& connection = *std::exchange(waiting, nullptr);
    connection.respond(bridge::text_response(200, "late"));
  }
  void connection_drained() override { MUST(waiting != nullptr); }
  void connection_lost(bool) override {
    MUST(waiting != nullptr);
    waiting = nullptr;
  }
  bool ends_with_input() const override { return false; }

  HttpConnection* waiting = nullptr;
};

class Run {
 public:
  Run() {
    std::array<int, 2> ends{};
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    peer_ = ends[1];
    connection_ =
        std::make_unique<HttpConnection>(context_, ends[0], bridge::make_plain_stream(ends[0]));
    const bridge::EventLoop::Turn turn(loop_);
    connection_->start();
  }
  ~Run() { close(peer_); }

  void send(std::string_view bytes) {
    ::send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    run();
  }
  void half_close() {
    shutdown(peer_, SHUT_WR);
    run();
  }
  void read() {
    std::array<char, 1 << 16> buffer{};
    for (;;) {
      const ssize_t length = recv(peer_, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (length <= 0) break;
      output.append(buffer.data(), static_cast<std::size_t>(length));
    }
    run();
  }
  void advance(std::chrono::milliseconds time) {
    clock_.advance(time);
    loop_.run_due();
    run();
  }
  void answer_what_waits() {
    {
      const bridge::EventLoop::Turn turn(loop_);
      answers_.answer_what_waits();
    }
    run();
  }
  /// All timeouts expire, and every request has one response.
  void finish() {
    for (int i = 0; i < 64 && !connection_->is_over(); ++i) {
      read();
      answer_what_waits();
      advance(std::chrono::minutes(6));
    }
    MUST(connection_->is_over());
    MUST(answers_.waiting == nullptr);
    read();
  }

  std::string output;

 private:
  void run() {
    while (loop_.run_once(std::chrono::nanoseconds(0)) > 0) {
    }
    MUST(budget_.used() <= most_held);
  }

  StillClock clock_;
  bridge::EventLoop loop_{clock_};
  bridge::ByteBudget budget_{64u << 20};
  bridge::ByteCounts counts_;
  Answers answers_;
  bridge::Deferred flush_{loop_, [this] {
                            while (!context_.dirty.empty()) {
                              for (HttpConnection* one : std::exchange(context_.dirty, {}))
                                one->flush();
                            }
                          }};
  bridge::HttpConnectionContext context_{
      loop_, budget_, counts_, answers_, flush_, max_body, std::chrono::seconds(30)};
  int peer_ = -1;
  std::unique_ptr<HttpConnection> connection_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  Run run;
  std::size_t step = 0;
  feed_in_chunks(input.bytes, input.plan, [&](std::string_view chunk) {
    run.send(chunk);
    const unsigned what =
        input.plan.empty() ? 0 : static_cast<unsigned char>(input.plan[step++ % input.plan.size()]);
    if ((what & 0x20) != 0) run.read();
    if ((what & 0x40) != 0) run.answer_what_waits();
    if ((what & 0xe0) == 0x80) run.advance(std::chrono::seconds(what & 0x1f));
  });
  if (input.limit % 2 == 0) run.half_close();
  run.finish();
  // A response begins where the previous one ends.
  MUST(run.output.empty() || run.output.starts_with("HTTP/1.1 "));
  return 0;
}
