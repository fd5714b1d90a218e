// Messages that callers send to the face.
#include <algorithm>
#include <utility>

#include "downstream/http/answer_array.hpp"
#include "downstream/http/error_response.hpp"
#include "downstream/http/http_face.hpp"
#include "http/accept.hpp"
#include "jsonrpc/error_codes.hpp"

namespace bridge {
namespace {

HttpResponse accepted() { return {202, {}, {}, {}}; }

HttpResponse accepted_for_later(const std::vector<std::string>& raw_ids) {
  HttpResponse response = json_response(202, accepted_body(raw_ids));
  response.headers.emplace_back("Preference-Applied", "respond-async");
  return response;
}

}  // namespace

/// `initialize` is answered at once in any case: with its answer the session begins.
bool HttpFace::answers_later(const RequestHead& head, const PostedMessages& posted) const {
  if (posted.initializes || posted.request_ids.empty()) return false;
  return context_.options.answers_later || head.header_has("prefer", "respond-async");
}

std::optional<HttpResponse> HttpFace::post(HttpConnection& connection, const RequestHead& head,
                                           std::string body) {
  auto read = read_posted(std::move(body));
  if (const auto* fault = std::get_if<FrameFault>(&read))
    return error_response(400, fault->code, fault->reason);
  PostedMessages& posted = std::get<PostedMessages>(read);
  const std::string name = head.header("mcp-session-id");
  DownstreamSession* session = nullptr;
  if (!name.empty()) {
    session = find_session(name);
    if (session == nullptr || session->kind() != DownstreamSession::Kind::streamable) {
      return error_response(404, json_rpc::http_error, "Session not found");
    }
  } else if (posted.initializes) {
    session = add_session(DownstreamSession::Kind::streamable, head);
    if (session == nullptr) {
      HttpResponse full =
          error_response(503, json_rpc::bridge_error, "too many sessions (--http-max-sessions)");
      full.headers.emplace_back("Retry-After", "5");
      return full;
    }
    session->opens_with(posted.request_ids.front());
  }
  if (session == nullptr) return post_alone(connection, head, std::move(posted));
  return post_in_session(connection, *session, head, std::move(posted), name.empty());
}

PendingPost& HttpFace::add_exchange(HttpConnection& connection, DownstreamSession* session,
                                    const RequestHead& head, PostedMessages& posted,
                                    EventStream::Headers headers, std::string new_session) {
  PendingPost::Asked asked;
  asked.new_session = std::move(new_session);
  asked.ids = std::move(posted.ids);
  asked.answers = std::move(posted.faults);
  asked.is_batch = posted.is_batch;
  asked.form = answer_form(head.header("accept"));
  asked.primes = head.header("mcp-protocol-version") >= "2025-11-25";
  asked.headers = std::move(headers);
  const std::uint64_t number = ++last_exchange_;
  auto exchange = std::make_unique<PendingPost>(
      context_, connection, session != nullptr ? &session->store() : nullptr, number,
      std::move(asked),
      [session](std::string message) {
        if (session != nullptr) session->send_later(std::move(message));
      },
      [session] {
        if (session != nullptr) session->load_changed();
      });
  PendingPost& added = *exchange;
  postings_.emplace(number, Posting{std::move(exchange), session, nullptr});
  if (session != nullptr) session->add_exchange(added);
  return added;
}

std::optional<HttpResponse> HttpFace::post_in_session(HttpConnection& connection,
                                                      DownstreamSession& session,
                                                      const RequestHead& head,
                                                      PostedMessages posted, bool is_new) {
  const bool is_taken = std::any_of(posted.request_ids.begin(), posted.request_ids.end(),
                                    [&](const std::string& id) { return session.awaits(id); });
  if (is_taken)
    return error_response(400, json_rpc::invalid_request,
                          "Invalid Request: a request of this id is in flight");
  std::optional<HttpResponse> response;
  if (posted.request_ids.empty()) {
    // An array with nothing in it but faults is answered by them.
    response = posted.faults.empty() || !posted.messages.empty()
                   ? accepted()
                   : json_response(400, answer_body(posted.faults, true));
  } else if (answers_later(head, posted)) {
    response = accepted_for_later(posted.request_ids);
    for (const std::string& id : posted.request_ids) session.expect_later(id);
    for (std::string& fault : posted.faults) session.send_later(std::move(fault));
  } else {
    EventStream::Headers headers = cors_headers(head);
    add_exchange(connection, &session, head, posted, std::move(headers),
                 is_new ? session.name() : std::string())
        .begin();
    session.can_be_asked_now();
  }
  // Every answer from here on finds who waits for it.
  const ClientId client = session.identity().id;
  for (Frame& message : posted.messages) context_.events.client_message(client, std::move(message));
  return response;
}

std::optional<HttpResponse> HttpFace::post_alone(HttpConnection& connection,
                                                 const RequestHead& head, PostedMessages posted) {
  const bool later = answers_later(head, posted);
  std::optional<HttpResponse> response;
  PendingPost* exchange = nullptr;
  if (posted.request_ids.empty()) {
    response = posted.faults.empty() || !posted.messages.empty()
                   ? accepted()
                   : json_response(400, answer_body(posted.faults, true));
  } else if (later) {
    response = accepted_for_later(posted.request_ids);
  } else {
    exchange = &add_exchange(connection, nullptr, head, posted, cors_headers(head));
  }
  auto client = std::make_unique<SessionlessClient>(context_, exchange,
                                                    printable(head.header("user-agent"), 80));
  SessionlessClient& added = *client;
  const ClientId id = added.identity().id;
  sessionless_clients_.emplace(id, std::move(client));
  if (exchange != nullptr) {
    postings_.at(exchange->number()).client = &added;
    exchange->begin();
  }
  ++context_.counts.connected;
  context_.events.client_connected(added);
  for (Frame& message : posted.messages) context_.events.client_message(id, std::move(message));
  // It says nothing more: the router lets go of it with its last answer.
  context_.events.client_half_closed(id);
  return response;
}

HttpResponse HttpFace::post_old_sse(const RequestHead& head, std::string body) {
  DownstreamSession* session = find_session(head.parameter("sessionId").value_or(std::string()));
  if (session == nullptr || session->kind() != DownstreamSession::Kind::old_sse) {
    return error_response(404, json_rpc::http_error, "Session not found");
  }
  auto read = read_posted(std::move(body));
  if (const auto* fault = std::get_if<FrameFault>(&read))
    return error_response(400, fault->code, fault->reason);
  PostedMessages& posted = std::get<PostedMessages>(read);
  for (std::string& fault : posted.faults) session->send_later(std::move(fault));
  for (const std::string& id : posted.request_ids) session->expect_later(id);
  const ClientId client = session->identity().id;
  for (Frame& message : posted.messages) context_.events.client_message(client, std::move(message));
  return text_response(202, "Accepted");
}

}  // namespace bridge
