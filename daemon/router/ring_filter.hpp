#pragma once

#include <memory>
#include <string_view>

#include "notifications/ring.hpp"
#include "policy/policy.hpp"

namespace bridge {

/// The filter of ring entries for a peer with this rule: without changes of resources hidden from
/// it; without a rule it gets nothing. Null if the peer gets all. Pure; independent of the policy's
/// lifetime.
std::shared_ptr<const RingFilter> ring_filter_of(const PolicyRule& rule);

/// The same for a notification (JSON) that does not come from the ring: whether it is hidden.
bool hides_notification(const PolicyRule& rule, std::string_view message);

}  // namespace bridge
