#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "event/event_loop.hpp"
#include "grant/grants.hpp"
#include "json/frame.hpp"
#include "json/json_object.hpp"
#include "router/router.hpp"

namespace bridge {

/// Answers `bridge/grant`, `bridge/use`, `bridge/grants` and `bridge/revoke` (BEHAVIOUR, "Grants").
/// Each returns the whole response.
///
/// The loop's thread only; owned by ControlMethods.
class GrantMethods {
 public:
  static constexpr std::size_t max_answer = 1u << 20;  ///< bytes of a list

  GrantMethods(const EventLoop& loop, Router& router) : loop_(loop), router_(router) {}

  std::string issue(const Frame& request, const Client& asker);
  std::string use(const Frame& request, Client& asker);
  std::string list(const Frame& request, const Client& asker) const;
  std::string revoke(const Frame& request, const Client& asker);

  /// What the status says to its holder; nullopt: it has none.
  std::optional<JsonObject> status_of(const Client& asker) const;

 private:
  Grants& grants() { return router_.permissions().grants(); }
  const Grants& grants() const { return router_.permissions().grants(); }
  bool may_see(const Client& asker, const Grants::Alive& alive) const;
  JsonObject described(const Grants::Alive& alive) const;
  JsonArray lists_on(const GrantHold& hold) const;
  JsonObject held(const GrantHold& hold) const;
  static std::string refused_to_anonymous(std::string_view raw_id);
  std::string refuse_use(std::string_view raw_id, Client& asker, GrantEnd end);

  const EventLoop& loop_;
  Router& router_;
};

}  // namespace bridge
