#include "emission.hpp"

#include "json_text.hpp"

namespace demo {

std::optional<Emission> Emission::parse(std::string_view order) {
  Emission emission;
  const auto message = json::member(order, "message");
  const auto raw = json::member(order, "raw");
  if (message.empty() && raw.empty()) return std::nullopt;
  emission.raw = message.empty();
  emission.text = emission.raw ? json::text(raw) : std::string(message);
  const auto event = json::member(order, "event");
  if (!event.empty()) emission.event = json::text(event);
  emission.session = json::text(json::member(order, "session"));
  emission.count = json::integer(json::member(order, "count"), 1);
  return emission;
}

Emission::Counts Emission::put(const std::vector<std::shared_ptr<Session>>& sessions) const {
  Counts counts;
  for (const auto& to : sessions) {
    if (!session.empty() && to->id() != session) continue;
    auto& stream = *to->server_stream();
    bool any = false;
    for (std::int64_t n = 1; n <= count; ++n) {
      const auto numbered = json::substituted(text, "$N", std::to_string(n));
      const bool taken = raw ? stream.append_raw(numbered) : stream.append(numbered, event);
      if (taken) {
        any = true;
      } else {
        ++counts.dropped;
      }
    }
    if (any) ++counts.streams;
  }
  return counts;
}

}  // namespace demo
