#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "json/frame.hpp"
#include "router/client.hpp"
#include "router/question.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"
#include "router/told_names.hpp"

namespace bridge {

LikelyCaller likely_caller(const RequestsInFlight& in_flight);

/// Methods about one of the client's tasks.
constexpr bool is_about_task(std::string_view method) { return method.starts_with("tasks/"); }

/// Who can answer a question of the upstream now, by what clients have declared, what they wait for
/// and which names only one of them knows (BEHAVIOUR, "Server requests"). Changes nothing but the
/// names.
///
/// Owned by Questions; the loop's thread only. Memory: that of ToldNames.
class Answerers {
 public:
  Answerers(const RouterContext& context, const RequestsInFlight& in_flight,
            const QuestionTable& questions)
      : context_(context), in_flight_(in_flight), questions_(questions) {}

  /// `is_new`: the question has just arrived, so it may be asked in a result.
  std::optional<Candidate> choose(const Question& question, bool is_new) const;
  /// Whether the call is a modern client's that can be asked this in its result.
  bool may_be_asked_in(UpstreamId call, const Question& question) const;
  /// Whether the named client may still be asked, though perhaps not reached now.
  bool may_answer_later(const Question& question) const;
  /// Observers and unreachable clients do not count.
  bool has_reachable_client() const;
  /// The client's own id for the request that the question is about; empty if that is not its
  /// request, or has ended.
  std::string_view subject(const Question& question, const Client& client) const;
  /// The request in flight of a client or job that a request of the upstream names as its
  /// `requestId`: it is about that one, as if it came on its stream.
  std::optional<UpstreamId> client_request_named_by(const Frame& request, Slice& name) const;
  /// The only client that knows what the request names.
  std::optional<ClientId> client_named_by(std::string_view method, std::string_view params) const;

  // Names that only one client knows.
  /// The upstream has answered a request of this client.
  void told(ClientId client, const Frame& response);
  /// The client has answered a question.
  void told_by(const Client& client, const Frame& response);
  /// The client tells of one of its tasks.
  void told_of_task(const Client& client, const Frame& notification);
  /// The client is asked.
  void asked(const Client& client, const Question& question);
  ToldNames& names() { return told_; }

 private:
  bool can_answer(const Client& client, const Question& question) const;
  std::vector<Candidate> candidates(const Question& question, bool is_new) const;
  bool may_be_asked(JobNumber job) const;
  void add_modern_calls(std::vector<Candidate>& candidates, const Question& question) const;
  std::optional<UpstreamId> suspended_call(const Question& question) const;
  std::optional<Candidate> choose_named(const Question& question) const;

  const RouterContext context_;
  const RequestsInFlight& in_flight_;
  const QuestionTable& questions_;
  ToldNames told_;
};

}  // namespace bridge
