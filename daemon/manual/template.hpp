#pragma once

#include <map>
#include <string>

namespace documents {

/// Copies `from` to `to`, with each `@NAME@` replaced by its value. Returns an exit code; an
/// unknown name is an error, reported on stderr.
int fill_template(const std::string& from, const std::string& to,
                  const std::map<std::string, std::string>& values);

}  // namespace documents
