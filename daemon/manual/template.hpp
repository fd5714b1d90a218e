#pragma once

#include <map>
#include <string>

namespace documents {

/// Copies `from` to `to`, with each `@NAME@` replaced by what belongs to it. Returns an exit code;
/// a name that is not known is an error, told on stderr.
int fill_template(const std::string& from, const std::string& to,
                  const std::map<std::string, std::string>& values);

}  // namespace documents
