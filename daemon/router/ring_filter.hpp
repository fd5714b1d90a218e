#pragma once

#include <memory>
#include <string_view>

#include "notifications/ring.hpp"
#include "policy/policy.hpp"

namespace bridge {

/// Which of the ring's entries a peer is shown for which this rule holds: not the changes of
/// resources that are hidden from it, and nothing at all without a rule. Null if all are shown.
/// Pure; independent of the policy's lifetime.
std::shared_ptr<const RingFilter> ring_filter_of(const PolicyRule& rule);

/// Whether a notification (JSON) is hidden: the same, of one that does not come from the ring.
bool hides_notification(const PolicyRule& rule, std::string_view message);

}  // namespace bridge
