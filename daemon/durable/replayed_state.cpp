#include "durable/replayed_state.hpp"

#include <algorithm>

#include "durable/plain_name.hpp"
#include "durable/record_types.hpp"
#include "state/fields.hpp"

namespace bridge {

bool ReplayedState::take(std::uint32_t type, std::string_view payload) {
  FieldReader fields(payload);
  switch (type) {
    case record::instance:
      instance = fields.text();
      return fields.is_done() && is_plain_name(instance);
    case record::opened: ended_in_order = false; return true;
    case record::ended: ended_in_order = true; return true;
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
    case record::job: return jobs.job(payload);
    case record::job_way: return jobs.way(payload);
    case record::job_changed: return jobs.changed(payload);
    case record::job_ended: return jobs.ended(payload);
    case record::job_forgotten: return jobs.forgotten(payload);
    case record::used_key: return jobs.key(payload);
    case record::orphan: return orphans.take(payload);
    default: return false;
  }
}

}  // namespace bridge
