#include "durable/orphan_records.hpp"

#include <utility>

#include "state/fields.hpp"

namespace bridge {

std::string orphan_record(UpstreamId id, const KeptOrphan& orphan) {
  FieldWriter fields;
  fields.number(value_of(id)).number(orphan.user.remote).number(orphan.user.uid);
  fields.text(orphan.method).number(static_cast<std::uint64_t>(orphan.pid)).text(orphan.command);
  fields.number(orphan.answer.session).text(orphan.answer.event_id);
  return fields.bytes();
}

bool OrphanReplay::take(std::string_view payload) {
  FieldReader fields(payload);
  const auto id = static_cast<UpstreamId>(fields.number());
  KeptOrphan orphan;
  orphan.user.remote = fields.number() != 0;
  orphan.user.uid = static_cast<uid_t>(fields.number());
  orphan.method = fields.text();
  orphan.pid = static_cast<pid_t>(fields.number());
  orphan.command = fields.text();
  orphan.answer.session = fields.number();
  orphan.answer.event_id = fields.text();
  if (!fields.is_done()) return false;
  orphans_.insert_or_assign(id, std::move(orphan));
  return true;
}

}  // namespace bridge
