#include "verbs/waiting_hint.hpp"

#include <fmt/format.h>

#include "json/value.hpp"

namespace client {

std::optional<std::string> describe_wait(std::string_view status_json) {
  using Kind = json::Value::Kind;
  const auto status = json::parse(status_json);
  const json::Value* upstream = status ? status->find("upstream", Kind::object) : nullptr;
  if (upstream == nullptr) return std::nullopt;
  const std::string_view state = upstream->string("state");
  if (state != "opening" && state != "reopening" && state != "waiting") return std::nullopt;
  // The last error is of this outage only if the last try has failed.
  const json::Value* ready = upstream->find("ready", Kind::boolean);
  const json::Value* error = status->find("lastError", Kind::object);
  if (ready != nullptr && !ready->truth && error != nullptr) {
    return fmt::format("still waiting: {}; the daemon keeps trying", error->string("message"));
  }
  return fmt::format("still waiting: the daemon is opening a session with {}",
                     upstream->string("target"));
}

}  // namespace client
