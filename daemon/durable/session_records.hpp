#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "durable/ring_records.hpp"
#include "session/kept_session.hpp"

namespace bridge {

/// What a log says of the session.
struct SessionReplay {
  KeptSession kept;  ///< without its ids and what was unanswered
  /// What the server has named the session, which may still be there; none: it was lost.
  std::optional<std::string> id;

  /// False if the payload is none of that kind.
  bool take(std::string_view payload);
};

std::string session_record(const KeptSession& kept, const std::optional<std::string>& id);
std::string server_stream_record(const StreamPosition& position);
std::optional<StreamPosition> read_server_stream_record(std::string_view payload);
std::string unanswered_record(const std::vector<UpstreamId>& ids);
std::optional<std::vector<UpstreamId>> read_unanswered_record(std::string_view payload);

}  // namespace bridge
