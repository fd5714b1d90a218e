#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "policy/policy.hpp"

namespace bridge {

/// The file of --policy as it was read. A value.
struct PolicyFile {
  static constexpr std::size_t longest = 1u << 20;  ///< bytes of such a file

  std::string path;
  std::string text;
  Policy policy;
};

/// Reads and checks it, or says what is wrong, with the file's name. It has to belong to root or to
/// the daemon's user, and others must not be able to write it.
std::variant<PolicyFile, std::string> read_policy_file(const std::string& path,
                                                       const AccountNames& names);

}  // namespace bridge
