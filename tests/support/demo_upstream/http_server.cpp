#include "http_server.hpp"

#include <httplib.h>
#include <netinet/tcp.h>

#include <atomic>

#include "raw_answer.hpp"
#include "tcp_socket.hpp"

namespace demo {
namespace {

constexpr int kBacklog = 1024;
constexpr std::size_t kRequestsOnAConnection = 1'000'000'000;

struct Counters {
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> open{0};
};

/// The connection served by the calling thread. The library passes no connection to its handlers,
/// but uses one thread for each.
struct ServedConnection {
  std::uint64_t number = 0;
  std::uint64_t requests = 0;
  int descriptor = -1;
  bool corked = false;
};

ServedConnection& served_by_this_thread() {
  thread_local ServedConnection connection;
  return connection;
}

/// The library sends a response's header and body separately, which wakes the client twice: a tenth
/// of a call's time. From a connection's second request on (looking up the socket costs more than
/// one call gains) they are sent together.
void hold_back_answer(const HttpRequest& request) {
  auto& connection = served_by_this_thread();
  if (connection.requests < 2) return;
  tcp::cork(request.descriptor(), true);
  connection.corked = true;
}

void let_go_answer() {
  auto& connection = served_by_this_thread();
  if (connection.corked) tcp::cork(connection.descriptor, false);
  connection.corked = false;
}

/// The library passes one task for each connection.
class ConnectionQueue : public httplib::TaskQueue {
 public:
  ConnectionQueue(GrowingPool& pool, Counters& counters) : pool_(pool), counters_(counters) {}

  // void in older versions of the library, bool in newer ones.
  using Accepted = decltype(std::declval<httplib::TaskQueue&>().enqueue({}));

  Accepted enqueue(std::function<void()> serve) override {
    const auto number = ++counters_.accepted;
    ++counters_.open;
    pool_.run([serve = std::move(serve), number, &counters = counters_] {
      served_by_this_thread() = {number};
      serve();
      --counters.open;
    });
    return static_cast<Accepted>(true);
  }

  void shutdown() override { pool_.shutdown(); }

 private:
  GrowingPool& pool_;
  Counters& counters_;
};

class LibraryRequest : public HttpRequest {
 public:
  explicit LibraryRequest(const httplib::Request& request) : request_(request) {
    ++served_by_this_thread().requests;
  }

  std::string_view method() const override { return request_.method; }
  std::string_view path() const override { return request_.path; }
  std::string_view body() const override { return body_.empty() ? request_.body : body_; }
  std::string_view header(const std::string& name) const override {
    const auto found = request_.headers.find(name);
    return found == request_.headers.end() ? std::string_view{} : found->second;
  }
  void each_header(
      const std::function<void(std::string_view, std::string_view)>& visit) const override {
    for (const auto& [name, value] : request_.headers) {
      // Set by the library, never sent by a client.
      if (name.starts_with("REMOTE_") || name.starts_with("LOCAL_")) continue;
      visit(name, value);
    }
  }
  std::string parameter(const std::string& name) const override {
    return request_.get_param_value(name);
  }
  std::uint64_t connection() const override { return served_by_this_thread().number; }
  int descriptor() const override {
    auto& known = served_by_this_thread().descriptor;
    if (known < 0) {
      known = tcp::find(request_.remote_addr, request_.remote_port, request_.local_port);
    }
    return known;
  }
  void set_body(std::string body) { body_ = std::move(body); }

 private:
  const httplib::Request& request_;
  std::string body_;
};

class LibrarySink : public Sink {
 public:
  LibrarySink(httplib::DataSink& sink, int descriptor) : sink_(sink), descriptor_(descriptor) {}

  bool write(std::string_view bytes) override {
    // An empty chunk would be the last one.
    return bytes.empty() || sink_.write(bytes.data(), bytes.size());
  }
  int descriptor() const override { return descriptor_; }

 private:
  httplib::DataSink& sink_;
  int descriptor_;
};

/// Runs the writer within the one call of a content provider; false ends the connection.
bool write_body(const BodyWriter& writer, httplib::DataSink& library_sink, int descriptor) {
  LibrarySink sink(library_sink, descriptor);
  const auto end = writer(sink);
  if (end == BodyEnd::kClose) {
    library_sink.done();
    return true;
  }
  if (end == BodyEnd::kReset) tcp::reset(descriptor);
  return false;
}

void deliver(Answer answer, const HttpRequest& request, httplib::Response& response) {
  if (answer.spoiling.any()) {
    // The connection is unusable after this, so what the library writes is discarded.
    write_spoilt(answer, request.descriptor());
    return;
  }
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  if (answer.writer || answer.chunked) {
    if (!answer.writer) {
      answer.writer = [body = std::move(answer.body)](Sink& sink) {
        return sink.write(body) ? BodyEnd::kClose : BodyEnd::kGone;
      };
    }
    // The library treats a missing type as plain text.
    response.set_chunked_content_provider(
        answer.content_type,
        [writer = std::move(answer.writer), descriptor = request.descriptor()](
            std::size_t, httplib::DataSink& sink) { return write_body(writer, sink, descriptor); });
    return;
  }
  hold_back_answer(request);
  response.body = std::move(answer.body);
  if (!answer.content_type.empty()) response.set_header("Content-Type", answer.content_type);
}

}  // namespace

struct HttpServer::Library {
  Counters counters;
  Handler handler;
  httplib::Server server;
  int listener = -1;
  int port = -1;
  std::atomic<bool> stopping{false};

  void handle(const httplib::Request& request, httplib::Response& response) const {
    const LibraryRequest wrapped(request);
    deliver(handler(wrapped), wrapped, response);
  }

  void configure() {
    // Called when a response has been written.
    server.set_logger([](const httplib::Request&, const httplib::Response&) { let_go_answer(); });
    server.Get(".*", [this](const auto& request, auto& response) { handle(request, response); });
    server.Post(".*", httplib::Server::Handler([this](const auto& request, auto& response) {
                  handle(request, response);
                }));
    // Read by hand: the library would wait for the end of a body, which a DELETE does not have.
    server.Delete(".*", httplib::Server::HandlerWithContentReader(
                            [this](const auto& request, auto& response, const auto& read) {
                              LibraryRequest wrapped(request);
                              if (request.has_header("Content-Length") &&
                                  request.get_header_value("Content-Length") != "0") {
                                std::string body;
                                read([&body](const char* bytes, std::size_t size) {
                                  body.append(bytes, size);
                                  return true;
                                });
                                wrapped.set_body(std::move(body));
                              }
                              deliver(handler(wrapped), wrapped, response);
                            }));
  }
};

HttpServer::HttpServer(GrowingPool& pool, int keep_alive_seconds, Handler handler)
    : library_(std::make_unique<Library>()) {
  auto& library = *library_;
  library.handler = std::move(handler);
  library.configure();
  auto& server = library.server;
  server.new_task_queue = [&pool, &library] { return new ConnectionQueue(pool, library.counters); };
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(kRequestsOnAConnection);
  server.set_keep_alive_timeout(keep_alive_seconds);
  server.set_read_timeout(std::chrono::seconds(60));
  server.set_write_timeout(std::chrono::seconds(600));
  server.set_socket_options([&library](int socket) {
    // Instead of the library's SO_REUSEPORT, with which two servers share a port unnoticed.
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    library.listener = socket;
  });
}

HttpServer::~HttpServer() = default;

int HttpServer::bind(int port) {
  const std::string host = "127.0.0.1";
  auto& server = library_->server;
  const int bound = port == 0                         ? server.bind_to_any_port(host)
                    : server.bind_to_port(host, port) ? port
                                                      : -1;
  if (bound < 0) return -1;
  // The library's backlog of 5 drops connections when many arrive at once.
  ::listen(library_->listener, kBacklog);
  return library_->port = bound;
}

void HttpServer::run() {
  if (!library_->stopping) library_->server.listen_after_bind();
}

void HttpServer::stop() {
  library_->stopping = true;
  // Its stop() does nothing before it listens.
  library_->server.stop();
  tcp::finish_all(library_->port);
}

HttpServer::Connections HttpServer::connections() const {
  return {library_->counters.accepted, library_->counters.open};
}

}  // namespace demo
