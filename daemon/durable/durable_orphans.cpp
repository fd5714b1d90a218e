#include "durable/durable_orphans.hpp"

#include <algorithm>
#include <utility>

#include "durable/record_types.hpp"
#include "jobs/submitted_request.hpp"

namespace bridge {

void DurableOrphans::note(const std::vector<UpstreamId>& unanswered) {
  std::erase_if(orphans_, [&](const auto& entry) {
    return !std::binary_search(unanswered.begin(), unanswered.end(), entry.first);
  });
  router_.each_orphan_to_be([&](UpstreamId id, const Client& client, const std::string& method) {
    if (orphans_.contains(id) || !can_be_job(method)) return;
    KeptOrphan orphan{client.user,
                      method,
                      client.channel.identity().pid,
                      shortened(client.channel.command()),
                      {}};
    state_log_.append(record::orphan, orphan_record(id, orphan));
    orphans_.emplace(id, std::move(orphan));
  });
}

void DurableOrphans::note_streams() {
  for (auto& [id, orphan] : orphans_) {
    const std::string_view event_id = upstream_.last_event_of(id);
    StreamPosition& answer = orphan.answer;
    if (event_id.empty() || event_id.size() > longest_event_id ||
        (event_id == answer.event_id && session_.number() == answer.session))
      continue;
    answer = {session_.number(), std::string(event_id)};
    state_log_.append(record::orphan, orphan_record(id, orphan));
  }
}

void DurableOrphans::say_all(LogWriter& out) const {
  for (const auto& [id, orphan] : orphans_) out.append(record::orphan, orphan_record(id, orphan));
}

}  // namespace bridge
