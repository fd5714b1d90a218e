#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "policy/policy.hpp"

namespace bridge {

/// A policy of these rules, in which users and groups are named by their numbers.
inline std::shared_ptr<const PolicyFile> policy_of(const std::string& rules) {
  const AccountNames ids{
      [](const std::string& name) -> std::optional<uid_t> { return std::stoul(name); },
      [](const std::string& name) -> std::optional<gid_t> { return std::stoul(name); }};
  auto read = Policy::read("{\"rules\":[" + rules + "]}", ids);
  if (const auto* fault = std::get_if<std::string>(&read)) FAIL(*fault);
  return std::make_shared<const PolicyFile>(
      PolicyFile{"/etc/policy.json", rules, std::get<Policy>(std::move(read))});
}

}  // namespace bridge
