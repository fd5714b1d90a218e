#include "options/descriptor_shares.hpp"

#include "process/resources.hpp"

namespace bridge {
namespace {

/// Besides those of requests in flight: idle ones, the server stream, notifications and responses
/// being sent, token requests.
constexpr std::size_t other_upstream_connections = 64;
constexpr std::size_t child_descriptors = 16;

DescriptorNeeds needs_of(const Options& options) {
  DescriptorNeeds needs;
  needs.clients = options.max_connections();
  needs.upstream = options.upstream.kind == UpstreamKind::child
                       ? child_descriptors
                       : options.router.max_inflight + other_upstream_connections;
  if (options.metrics_listener.address) needs.metrics = MetricsListener::max_connections;
  if (options.face.address) needs.face = options.face.wanted_connections();
  return needs;
}

}  // namespace

void share_descriptors(Options& options, Log& log) {
  const DescriptorNeeds needs = needs_of(options);
  const rlimit before = raise_descriptor_limit(needs.all());
  options.upstream.child.descriptors = before;
  options.upstream.auth.descriptors = before;
  const std::size_t limit = descriptor_limit();
  options.face.max_connections = needs.frontend_share(limit);
  if (limit >= needs.all()) return;
  if (options.face.address) {
    log.event(
        LogLevel::warning, "file descriptors",
        "the limit of file descriptors is {}, and {} may be needed: the HTTP frontend has at most "
        "{} connections at a time (raise LimitNOFILE or ulimit -n)",
        limit, needs.all(), options.face.max_connections);
  } else {
    log.event(LogLevel::warning, "file descriptors",
              "the limit of file descriptors is {}, and {} may be needed (raise LimitNOFILE or "
              "ulimit -n)",
              limit, needs.all());
  }
}

}  // namespace bridge
