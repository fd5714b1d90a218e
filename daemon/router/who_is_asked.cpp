#include "router/who_is_asked.hpp"

#include <algorithm>

namespace bridge {

std::optional<ClientId> who_is_asked(const std::vector<Askable>& able) {
  const bool all_silent =
      std::all_of(able.begin(), able.end(), [](const Askable& one) { return one.is_silent; });
  const bool somebody_waits = std::any_of(able.begin(), able.end(), [&](const Askable& one) {
    return one.is_busy && !one.is_job && (all_silent || !one.is_silent);
  });
  const Askable* longest = nullptr;
  const Askable* busy = nullptr;
  int busy_ones = 0;
  for (const Askable& one : able) {
    if (one.is_silent && !all_silent) continue;
    if (one.is_own) return one.client;
    if (one.is_job && somebody_waits) continue;
    if (longest == nullptr) longest = &one;
    if (!one.is_busy) continue;
    busy = &one;
    ++busy_ones;
  }
  if (longest == nullptr) return std::nullopt;
  return busy_ones == 1 ? busy->client : longest->client;
}

}  // namespace bridge
