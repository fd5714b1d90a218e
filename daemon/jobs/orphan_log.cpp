#include "jobs/orphan_log.hpp"

#include <algorithm>
#include <utility>

#include "jobs/submitted_request.hpp"
#include "state/record_types.hpp"

namespace bridge {

bool replay_orphan(std::string_view payload, LoggedOrphans& orphans) {
  UpstreamId id{};
  Orphan orphan;
  if (!Archive::read(Archive::Kind::disk, {}, payload, id, orphan)) return false;
  orphans.insert_or_assign(id, std::move(orphan));
  return true;
}

void OrphanLog::note(const std::vector<UpstreamId>& unanswered) {
  std::erase_if(orphans_, [&](const auto& entry) {
    return !std::binary_search(unanswered.begin(), unanswered.end(), entry.first);
  });
  router_.each_orphan_to_be([&](UpstreamId id, const Client& client, const std::string& method) {
    if (orphans_.contains(id) || !can_be_job(method)) return;
    Orphan orphan{client.user,
                  method,
                  client.channel.identity().pid,
                  shortened(client.channel.command()),
                  {}};
    state_log_.append(record::orphan, id, orphan);
    orphans_.emplace(id, std::move(orphan));
  });
}

void OrphanLog::note_streams() {
  for (auto& [id, orphan] : orphans_) {
    const std::string_view event_id = upstream_.last_event_of(id);
    StreamPosition& answer = orphan.answer;
    if (event_id.empty() || event_id.size() > longest_event_id ||
        (event_id == answer.event_id && session_.number() == answer.session))
      continue;
    answer = {session_.number(), std::string(event_id)};
    state_log_.append(record::orphan, id, orphan);
  }
}

void OrphanLog::say_all(LogWriter& out) const {
  for (const auto& [id, orphan] : orphans_)
    out.append(record::orphan, state_log_.now(), id, orphan);
}

}  // namespace bridge
