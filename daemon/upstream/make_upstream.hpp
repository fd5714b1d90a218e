#pragma once

#include <asio/io_context.hpp>
#include <memory>

#include "loop/byte_budget.hpp"
#include "loop/turn.hpp"
#include "service/log.hpp"
#include "upstream/upstream.hpp"
#include "upstream/upstream_options.hpp"

namespace bridge {

/// The carrier that the options name. What is given by reference outlives it; the options are
/// copied.
std::unique_ptr<Upstream> make_upstream(asio::io_context& loop, Turn& turn,
                                        const UpstreamOptions& options, ByteBudget& budget,
                                        Log& log);

/// Says once, at the start, what of the way to the upstream is not safe.
void warn_about_upstream(const UpstreamOptions& options, Log& log);

}  // namespace bridge
