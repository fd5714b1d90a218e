#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// Which options, as they were given, have another value now and change only with a restart, by
/// name. Pure.
std::vector<std::string> unchangeable_changes(const std::map<std::string, std::string>& before,
                                              const std::map<std::string, std::string>& now);

/// The same as text for a person; empty: none.
std::string changed_for_good(const std::map<std::string, std::string>& before,
                             const std::map<std::string, std::string>& now);

}  // namespace bridge
