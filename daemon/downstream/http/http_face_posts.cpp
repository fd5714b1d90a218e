// Messages that callers send to the face.
#include <algorithm>
#include <utility>

#include "downstream/http/answer_array.hpp"
#include "downstream/http/error_response.hpp"
#include "downstream/http/http_face.hpp"
#include "downstream/http/modern_rules.hpp"
#include "http/accept.hpp"
#include "jsonrpc/error_codes.hpp"

namespace bridge {
namespace {

/// Nothing in it is answered by the upstream; an array of nothing but faults is by them.
HttpResponse answer_without_requests(const PostedMessages& posted) {
  if (posted.faults.empty() || !posted.messages.empty()) return {202, {}, {}, {}};
  return json_response(400, answer_body(posted.faults, true));
}

bool asks_the_bridge(const PostedMessages& posted) {
  return std::all_of(posted.messages.begin(), posted.messages.end(), [](const Frame& message) {
    return message.is_request() && message.method.starts_with("bridge/");
  });
}

HttpResponse accepted_for_later(const std::vector<std::string>& raw_ids) {
  HttpResponse response = json_response(202, accepted_body(raw_ids));
  response.headers.emplace_back("Preference-Applied", "respond-async");
  return response;
}

}  // namespace

/// `initialize` is answered at once in any case: with its answer the session begins. So is what
/// only asks the bridge, if nobody wants it otherwise: it is how answers for later are collected.
bool HttpFace::answers_later(const RequestHead& head, const PostedMessages& posted) const {
  if (posted.initializes || posted.request_ids.empty()) return false;
  if (head.header_has("prefer", "respond-async")) return true;
  return context_.options.answers_later && !asks_the_bridge(posted);
}

std::optional<HttpResponse> HttpFace::post_messages(FaceRequest& request) {
  auto read = read_posted(std::move(request.body));
  if (const auto* fault = std::get_if<FrameFault>(&read))
    return error_response(400, fault->code, fault->reason);
  PostedMessages& posted = std::get<PostedMessages>(read);
  if (is_modern(request.head, posted)) return post_modern(request, std::move(posted));
  if (!names_known_version(request.head)) return unknown_version(request.head, posted);
  const std::string name = request.head.header("mcp-session-id");
  if (name.empty() && !posted.initializes) return post_alone(request, std::move(posted));
  DownstreamSession* session = name.empty()
                                   ? add_session(DownstreamSession::Kind::streamable, request.head)
                                   : find_session(name, DownstreamSession::Kind::streamable);
  if (session == nullptr)
    return name.empty() ? full_response("too many sessions (--http-max-sessions)")
                        : session_not_found();
  if (name.empty()) session->opens_with(posted.request_ids.front());
  return post_in_session(request, *session, std::move(posted), name.empty());
}

PendingPost::Asked HttpFace::asked_of(FaceRequest& request, PostedMessages& posted) const {
  PendingPost::Asked asked;
  asked.ids = std::move(posted.ids);
  asked.answers = std::move(posted.faults);
  asked.is_batch = posted.is_batch;
  asked.form = answer_form(request.head.header("accept"));
  asked.primes = primes_streams(request.head);
  asked.headers = access_.cors_headers(request.head);
  return asked;
}

/// The answers come on streams, and of what is kept as a job the answer can be collected as well.
void HttpFace::deliver_for_later(ClientId client, PostedMessages& posted, HttpResponse& response) {
  std::string jobs;
  bool some_are_kept = false;
  for (Frame& message : posted.messages) {
    if (!message.is_request()) {
      context_.events.client_message(client, std::move(message));
      continue;
    }
    const std::string job = context_.events.client_request_for_later(client, std::move(message));
    jobs += jobs.empty() ? "" : ", ";
    jobs += job.empty() ? "-" : job;
    some_are_kept = some_are_kept || !job.empty();
  }
  if (some_are_kept) response.headers.emplace_back("Bridge-Jobs", jobs);
}

/// Every answer from here on finds who waits for it.
void HttpFace::deliver(ClientId client, PostedMessages& posted) {
  for (Frame& message : posted.messages) context_.events.client_message(client, std::move(message));
}

std::optional<HttpResponse> HttpFace::post_in_session(FaceRequest& request,
                                                      DownstreamSession& session,
                                                      PostedMessages posted, bool is_new) {
  const bool is_taken = std::any_of(posted.request_ids.begin(), posted.request_ids.end(),
                                    [&](const std::string& id) { return session.awaits(id); });
  if (is_taken)
    return error_response(400, json_rpc::invalid_request,
                          "Invalid Request: a request of this id is in flight");
  std::optional<HttpResponse> response;
  if (posted.request_ids.empty()) {
    response = answer_without_requests(posted);
  } else if (answers_later(request.head, posted)) {
    response = accepted_for_later(posted.request_ids);
    for (const std::string& id : posted.request_ids) session.expect_later(id);
    for (std::string& fault : posted.faults) session.take_unsent(std::move(fault));
    deliver_for_later(session.identity().id, posted, *response);
    return response;
  } else {
    PendingPost::Asked asked = asked_of(request, posted);
    if (is_new) asked.new_session = session.name();
    session.begin_post(request.connection, std::move(asked));
  }
  deliver(session.identity().id, posted);
  return response;
}

std::optional<HttpResponse> HttpFace::post_alone(FaceRequest& request, PostedMessages posted) {
  auto client = std::make_unique<SessionlessClient>(
      context_, printable(request.head.header("user-agent"), 80));
  SessionlessClient& added = *client;
  const ClientId id = added.identity().id;
  sessionless_clients_.emplace(id, std::move(client));
  std::optional<HttpResponse> response;
  const bool is_for_later = answers_later(request.head, posted);
  if (posted.request_ids.empty()) {
    response = answer_without_requests(posted);
  } else if (is_for_later) {
    response = accepted_for_later(posted.request_ids);
  } else {
    added.begin_post(request.connection, asked_of(request, posted));
  }
  ++context_.counts.connected;
  context_.events.client_connected(added);
  if (is_for_later) {
    deliver_for_later(id, posted, *response);
  } else {
    deliver(id, posted);
  }
  // It says nothing more: the router lets go of it with its last answer.
  context_.events.client_half_closed(id);
  return response;
}

/// Nothing of a session is looked at: neither its id nor where a stream was broken off, nor whether
/// the answer may come elsewhere.
std::optional<HttpResponse> HttpFace::post_modern(FaceRequest& request, PostedMessages posted) {
  const RequestHead& head = request.head;
  if (auto fault = modern_fault(head, posted, context_.events.headers_of_tools())) return fault;
  if (posted.request_ids.empty()) return post_alone(request, std::move(posted));
  ModernPost::Asked asked;
  asked.raw_id = posted.request_ids.front();
  asked.listens = posted.messages.front().method == "subscriptions/listen";
  asked.takes_streams = accepts_stream(head.header("accept"));
  asked.prefers_stream = answer_form(head.header("accept")) == AnswerForm::stream;
  asked.headers = access_.cors_headers(head);
  if (asked.listens && !asked.takes_streams) return no_stream_wanted();
  if (asked.listens && streams() >= context_.options.max_streams)
    return full_response("too many streams are open (--http-max-streams)");
  // A client that has not been seen yet must find the others' reading acknowledged.
  if (asked.listens) context_.feed.acknowledge_read();
  auto post = std::make_unique<ModernPost>(context_, request.connection, std::move(asked),
                                           printable(head.header("user-agent"), 80));
  ModernPost& added = *post;
  const ClientId id = added.identity().id;
  modern_posts_.emplace(id, std::move(post));
  ++context_.counts.connected;
  context_.events.client_connected(added);
  deliver(id, posted);
  // It says nothing more: the router lets go of it with its answer.
  context_.events.client_half_closed(id);
  return std::nullopt;
}

std::optional<HttpResponse> HttpFace::post_old_sse(FaceRequest& request) {
  DownstreamSession* session =
      find_session(request.head.parameter("sessionId").value_or(std::string()),
                   DownstreamSession::Kind::old_sse);
  if (session == nullptr) return session_not_found();
  auto read = read_posted(std::move(request.body));
  if (const auto* fault = std::get_if<FrameFault>(&read))
    return error_response(400, fault->code, fault->reason);
  PostedMessages& posted = std::get<PostedMessages>(read);
  if (!names_known_version(request.head)) return unknown_version(request.head, posted);
  for (std::string& fault : posted.faults) session->take_unsent(std::move(fault));
  for (const std::string& id : posted.request_ids) session->expect_later(id);
  deliver(session->identity().id, posted);
  return text_response(202, "Accepted");
}

}  // namespace bridge
