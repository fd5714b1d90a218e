// What another image of the program goes on with.
#include <utility>
#include <vector>

#include "jobs/collectors.hpp"

namespace bridge {

std::vector<KeptDelivery> Collectors::to_keep() const {
  std::vector<KeptDelivery> all;
  for (const auto& [number, one] : all_) {
    if (one.delivers)
      all.push_back({value_of(number), value_of(one.client), one.request_id, one.progress_token});
  }
  return all;
}

void Collectors::go_on_with(KeptDelivery kept, Control::Reply reply) {
  Collector collector;
  collector.client = static_cast<ClientId>(kept.client);
  collector.request_id = std::move(kept.request_id);
  collector.progress_token = std::move(kept.progress_token);
  collector.delivers = true;
  collector.until = SteadyTime::max();
  collector.reply = std::move(reply);
  ++of_client_[collector.client];
  const auto number = static_cast<JobNumber>(kept.job);
  const auto added = all_.emplace(number, std::move(collector));
  if (Job* const job = runner_.store().find(number)) runner_.offer(*job);
  tell(added);
}

}  // namespace bridge
