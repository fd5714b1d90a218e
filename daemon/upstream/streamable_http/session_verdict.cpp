#include "upstream/streamable_http/session_verdict.hpp"

#include <string>

#include "text/ascii.hpp"
#include "text/json_text.hpp"

namespace bridge {

SessionVerdict session_verdict(int status, std::string_view error, SessionNamedBy named_by) {
  if (status == 404 && named_by == SessionNamedBy::endpoint) return SessionVerdict::lost;
  const std::string_view code = find_member(error, "code").value_or("");
  if (status == 404) {
    return named_by == SessionNamedBy::header && code != "-32601" ? SessionVerdict::lost
                                                                  : SessionVerdict::kept;
  }
  if (status != 400 || error.empty()) return SessionVerdict::kept;
  const std::string message = ascii_lower(find_string(error, "message").value_or(std::string()));
  const auto mentions = [&](std::string_view words) { return message.find(words) != message.npos; };
  const bool speaks_of_it =
      mentions("session") || mentions("not initialized") ||
      ((code == "-32600" || code == "-32602") && mentions("before initialization"));
  return speaks_of_it ? SessionVerdict::doubtful : SessionVerdict::kept;
}

StreamRefusal stream_refusal(int status, std::string_view error, SessionNamedBy named_by,
                             bool was_open) {
  if (status == 405 || (!was_open && (status == 404 || status == 400)))
    return StreamRefusal::not_offered;
  return session_verdict(status, error, named_by) == SessionVerdict::kept
             ? StreamRefusal::passing
             : StreamRefusal::lost_session;
}

}  // namespace bridge
