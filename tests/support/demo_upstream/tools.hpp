#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "growing_pool.hpp"
#include "message.hpp"
#include "reply.hpp"
#include "session.hpp"

namespace demo {

/// A `tools/call` that takes time: it sends on a stream before its response, and can be cancelled.
struct LongCall {
  std::shared_ptr<Session> session;
  std::shared_ptr<Call> call;
  std::shared_ptr<EventStream> out;
  std::string body;  ///< of its request
};

bool is_long_tool(std::string_view name);

/// nullopt if it was cancelled.
std::optional<Reply> run_long_tool(const LongCall& call);

/// The others respond at once; `ticker` continues in the pool.
Reply run_short_tool(const Message& request, const std::shared_ptr<Session>& session,
                     GrowingPool& pool);

/// The result of `tools/list`. `page_size` 0 is all; a cursor is the number of the next tool.
std::string tools_page(std::string_view cursor, int page_size);

}  // namespace demo
