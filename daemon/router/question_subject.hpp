#pragma once

#include <optional>
#include <string_view>

#include "base/ids.hpp"
#include "json/frame.hpp"

namespace bridge {

class RequestsInFlight;
class ServerRequests;

/// Which modern client's call a question of a legacy upstream is about (BEHAVIOUR, "Eras: questions
/// to a modern client"). Keeps nothing of its own. Owned by SuspendedCalls; the loop's thread only.
class QuestionSubject {
 public:
  QuestionSubject(const RequestsInFlight& in_flight, const ServerRequests& server_requests)
      : in_flight_(in_flight), server_requests_(server_requests) {}

  /// The call, if its client answers such questions; none: it is asked as any other is.
  std::optional<UpstreamId> call(std::optional<UpstreamId> origin, const Frame& request) const;
  /// Whether it is a modern client's call in which this may be asked.
  bool covers(UpstreamId id, std::string_view method, std::string_view params) const;

 private:
  std::optional<UpstreamId> likely_call(const Frame& request) const;

  const RequestsInFlight& in_flight_;
  const ServerRequests& server_requests_;
};

}  // namespace bridge
