#include "router/header_retry.hpp"

#include <fmt/format.h>

#include <utility>

#include "json/json_text.hpp"

namespace bridge {

HeaderRetry::HeaderRetry(const RouterContext& context, const EraTranslator& translator,
                         Actions actions)
    : context_(context),
      translator_(translator),
      actions_(std::move(actions)),
      timer_(context.loop, [this] { go_on(); }) {}

bool HeaderRetry::take(PendingRequest& pending, Ending& ending) {
  if (!ending.failure || !ending.unanswered || pending.mirrored_again ||
      pending.method != "tools/call" || !context_.session.mirrors_headers(pending.side) ||
      find_member(ending.failure->error_object, "code") != "-32020")
    return false;
  pending.mirrored_again = true;
  waiting_.push_back(std::move(*ending.unanswered));
  if (waiting_.size() > 1) return true;
  pages_ = 0;
  timer_.set_after(longest_listing);
  actions_.list_tools({});
  return true;
}

void HeaderRetry::listed(const Frame& response) {
  if (waiting_.empty()) return;  // it came too late
  const auto cursor = find_member(response.text(response.result), "nextCursor");
  if (cursor && is_string(*cursor) && ++pages_ < max_pages) {
    actions_.list_tools(fmt::format(R"({{"cursor":{}}})", *cursor));
  } else {
    go_on();
  }
}

void HeaderRetry::go_on() {
  timer_.clear();
  for (Outgoing& message : std::exchange(waiting_, {})) {
    if (!actions_.is_in_flight(message.id)) continue;  // cancelled meanwhile
    if (context_.session.is_open(Era::modern)) {
      translator_.mirror_again(message);
      context_.session.send(std::move(message), Era::modern);
    } else {
      actions_.give_up(message.id, failure_of(ErrorKind::session, Delivered::no,
                                              "the session was lost while the tools were listed"));
    }
  }
}

}  // namespace bridge
