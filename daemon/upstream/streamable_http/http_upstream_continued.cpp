// A session that outlives this daemon, or this image of its program: what is said of it, and how
// one is gone on with.
#include <utility>

#include "upstream/streamable_http/http_upstream.hpp"

namespace bridge {

std::optional<SessionReference> HttpUpstream::session_reference() const {
  if (!is_in_session_) return std::nullopt;
  return SessionReference{context_.session_id(), stream_.last_event_id()};
}

bool HttpUpstream::session_continued(const std::string& protocol_version,
                                     const SessionReference& reference) {
  context_.set_protocol_version(protocol_version);
  context_.set_session_id(std::string(reference.id));
  is_in_session_ = true;
  set_stream_state(ServerStream::waiting);
  continued_from_ = std::string(reference.last_event_id);
  if (token_.is_there()) stream_.open(*std::exchange(continued_from_, std::nullopt));
  // Else the message that asks whether the session is there fetches one.
  if (stream_.state() != ServerStream::waiting) soon_.schedule();
  return true;
}

bool HttpUpstream::stream_resumes() const {
  return stream_.state() == ServerStream::open && !stream_.last_event_id().empty();
}

bool HttpUpstream::is_quiet() const {
  return unsent_.empty() && !exchanges_.has_unfinished(stream_resumes());
}

bool HttpUpstream::survives_upgrade(UpstreamId id) const {
  const Exchange* const exchange = exchanges_.find(id);
  return exchange != nullptr && exchange->survives_upgrade(stream_resumes());
}

std::vector<KeptMessage> HttpUpstream::messages_to_keep() const {
  std::vector<KeptMessage> all;
  for (const UpstreamId id : exchanges_.ids()) {
    if (survives_upgrade(id)) all.push_back(exchanges_.find(id)->to_keep());
  }
  return all;
}

bool HttpUpstream::go_on_with(KeptMessage&& message) {
  if (!is_in_session_) return false;
  exchanges_.go_on_with(std::move(message));
  return true;
}

std::string_view HttpUpstream::last_event_of(UpstreamId id) const {
  const Exchange* const exchange = exchanges_.find(id);
  return exchange != nullptr ? exchange->last_event() : std::string_view();
}

std::string_view HttpUpstream::event_before(UpstreamId id) const {
  const Exchange* const exchange = exchanges_.find(id);
  return exchange != nullptr ? exchange->event_before() : std::string_view();
}

}  // namespace bridge
