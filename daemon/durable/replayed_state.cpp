#include "durable/replayed_state.hpp"

#include <algorithm>

#include "durable/record_types.hpp"
#include "state/fields.hpp"

namespace bridge {
namespace {

/// It goes into answers as it is.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("0123456789abcdef") == name.npos;
}

}  // namespace

bool ReplayedState::take(std::uint32_t type, std::string_view payload) {
  FieldReader fields(payload);
  switch (type) {
    case record::instance:
      instance = fields.text();
      return fields.is_done() && is_plain_name(instance);
    case record::opened: return true;
    case record::ring_entry: return ring.entry(payload, stream);
    case record::ring_marks: return ring.marks(payload);
    case record::ring_superseded: return ring.superseded(payload);
    case record::ring_counts: return ring.counts(payload);
    case record::session: return session.take(payload);
    case record::upstream_ids:
      next_id = std::max(next_id, fields.number());
      return fields.is_done();
    case record::server_stream:
      if (auto position = read_server_stream_record(payload)) {
        stream = std::move(*position);
        return true;
      }
      return false;
    case record::unanswered:
      if (auto ids = read_unanswered_record(payload)) {
        unanswered = std::move(*ids);
        return true;
      }
      return false;
    default: return false;
  }
}

}  // namespace bridge
