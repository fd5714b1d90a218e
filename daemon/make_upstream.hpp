#pragma once

#include <memory>

#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "state/log_format.hpp"
#include "upstream/upstream.hpp"
#include "upstream/upstream_options.hpp"

namespace bridge {

class ChildUpstream;

/// Identifies the upstream that the options name, for the state that belongs to it: the command and
/// its folder, or the URL without any secret before its host. Headers and tokens may change.
TargetHash hash_of_target(const UpstreamOptions& options);

/// Makes the transport that the options name. References outlive it; the options are
/// copied.
std::unique_ptr<Upstream> make_upstream(EventLoop& loop, const UpstreamOptions& options,
                                        ByteBudget& budget, Log& log);

/// The upstream as a local server, if it is one; else null.
ChildUpstream* local_server_of(Upstream& upstream);

/// Why a login at the upstream is impossible; empty if it is possible.
std::string why_no_login(const UpstreamOptions& options);

/// Warns once, at the start, of whatever is insecure on the way to the upstream.
void warn_about_upstream(const UpstreamOptions& options, Log& log);

}  // namespace bridge
