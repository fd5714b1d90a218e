#include "control.hpp"

#include <fmt/format.h>

#include <thread>

#include "emission.hpp"
#include "fault_player.hpp"
#include "json_text.hpp"

namespace demo {
namespace {

constexpr std::int64_t kDefaultWaitMs = 5000;
constexpr std::string_view kPrefix = "/control/";
/// Clients leave without notice, so the state is polled.
constexpr std::chrono::milliseconds kLookAgain(2);

struct State {
  std::size_t sessions = 0;
  std::size_t streams = 0;  ///< GET streams whose client is still there
  std::size_t active_calls = 0;
};

State look(Upstream& upstream, Endpoint& endpoint) {
  State state;
  state.active_calls = endpoint.stateless_calls();
  for (const auto& session : upstream.sessions.all()) {
    ++state.sessions;
    if (session->server_stream()->attached()) ++state.streams;
    state.active_calls += session->calls();
  }
  return state;
}

std::int64_t parameter(const HttpRequest& request, const std::string& name,
                       std::int64_t otherwise) {
  return json::integer(request.parameter(name), otherwise);
}

std::chrono::milliseconds time_limit(const HttpRequest& request) {
  return std::chrono::milliseconds(parameter(request, "timeoutMs", kDefaultWaitMs));
}

/// Waits for a journal's entries as the query says and returns them.
template <typename Entry, typename Selected>
Answer wait_in(Journal<Entry>& journal, const HttpRequest& request, Selected selected) {
  const auto count = static_cast<std::size_t>(parameter(request, "wait", 0));
  const auto [enough, entries] = journal.wait(count, time_limit(request), selected);
  std::string list = "[";
  for (const auto& entry : entries) {
    if (list.size() > 1) list += ",\n";
    list += entry.json();
  }
  return Answer::json(list + "]\n", enough ? 200 : 504);
}

Answer problem(std::string_view text) {
  return Answer::json(fmt::format(R"({{"error":{}}})", json::quoted(text)), 400);
}

Answer done() { return Answer::json("{}"); }

}  // namespace

Answer Control::handle(const HttpRequest& request) {
  const auto path = request.path().substr(kPrefix.size());
  if (auto answer = about_requests(request, path)) return std::move(*answer);
  if (auto answer = about_sessions(request, path)) return std::move(*answer);
  return Answer::json(R"({"error":"no such control"})", 404);
}

std::optional<Answer> Control::about_requests(const HttpRequest& request, std::string_view path) {
  const auto method = request.method();
  if (path == "log" && method == "GET") return log(request);
  if (path == "log" && method == "DELETE") return upstream_.log.clear(), done();
  if (path == "answers" && method == "GET") return answers(request);
  if (path == "fault" && method == "POST") return add_fault(request.body());
  if (path == "fault" && method == "DELETE") return upstream_.faults.clear(), done();
  if (path == "state" && method == "GET") return state(request);
  if (path == "reset" && method == "POST") return reset(), done();
  return std::nullopt;
}

std::optional<Answer> Control::about_sessions(const HttpRequest& request, std::string_view path) {
  if (request.method() != "POST") return std::nullopt;
  const auto body = request.body();
  if (path == "emit" || path == "request") return emit(body);
  if (path == "streams/close") return close_streams(body);
  if (path == "sessions/drop") {
    const auto count =
        upstream_.sessions.remove_all(json::is_true(json::member(body, "keepStreams")));
    return Answer::json(fmt::format(R"({{"dropped":{}}})", count));
  }
  if (path == "token") return upstream_.token.set(json::text(json::member(body, "token"))), done();
  return std::nullopt;
}

Answer Control::log(const HttpRequest& request) {
  const auto method = request.parameter("method");
  const auto http_method = request.parameter("httpMethod");
  const auto since = static_cast<std::uint64_t>(parameter(request, "since", 0));
  return wait_in(upstream_.log, request, [&](const SeenRequest& entry) {
    if (entry.n <= since) return false;
    if (!http_method.empty() && entry.http_method != http_method) return false;
    return is_wanted_method(method, entry.method);
  });
}

Answer Control::answers(const HttpRequest& request) {
  return wait_in(upstream_.answers, request, [](const SeenAnswer&) { return true; });
}

Answer Control::add_fault(std::string_view body) {
  const auto order = json::whole(body);
  const auto action = json::member(order, "action");
  if (const auto wrong = action_problem(action)) return problem(*wrong);
  const auto match = json::member(order, "match");
  FaultQueue::Fault fault;
  fault.http_method = json::text(json::member(match, "httpMethod"));
  fault.method = json::text(json::member(match, "method"));
  fault.nth = json::integer(json::member(match, "nth"), 1);
  fault.times = json::integer(json::member(order, "times"), 1);
  fault.action = action;
  if (fault.times == 0) return problem("times is 0");
  return upstream_.faults.add(std::move(fault)), done();
}

Answer Control::emit(std::string_view body) {
  const auto emission = Emission::parse(json::whole(body));
  if (!emission) return problem("neither message nor raw");
  const auto counts = emission->put(upstream_.sessions.all());
  return Answer::json(fmt::format(R"({{"sent":{},"dropped":{}}})", counts.streams, counts.dropped));
}

Answer Control::close_streams(std::string_view body) {
  const auto end = body_end(json::inside(json::member(json::whole(body), "end")));
  std::size_t closed = 0;
  for (const auto& session : upstream_.sessions.all()) {
    if (session->server_stream()->detach(end)) ++closed;
  }
  return Answer::json(fmt::format(R"({{"closed":{}}})", closed));
}

Answer Control::state(const HttpRequest& request) {
  const auto wanted = [&](const std::string& name, std::size_t has) {
    const auto value = parameter(request, name, -1);
    return value < 0 || static_cast<std::size_t>(value) == has;
  };
  const auto end = std::chrono::steady_clock::now() + time_limit(request);
  State state;
  bool reached = false;
  for (;;) {
    state = look(upstream_, endpoint_);
    reached = wanted("streams", state.streams) && wanted("sessions", state.sessions) &&
              wanted("activeCalls", state.active_calls);
    if (reached || std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(kLookAgain);
  }
  const auto connections = connections_();
  return Answer::json(
      fmt::format(R"({{"sessions":{},"streams":{},"openConnections":{},"connections":{},)"
                  R"("initializes":{},"deletes":{},"activeCalls":{},"logged":{}}})",
                  state.sessions, state.streams, connections.open, connections.accepted,
                  upstream_.initializes.load(), upstream_.deletes.load(), state.active_calls,
                  upstream_.log.size()),
      reached ? 200 : 504);
}

void Control::reset() {
  upstream_.log.clear();
  upstream_.faults.clear();
  upstream_.answers.clear();
}

}  // namespace demo
