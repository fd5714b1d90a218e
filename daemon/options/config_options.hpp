#pragma once

#include <string>

namespace bridge {

/// An HTTP header as curl takes it. Throws StartError with `code`, which begins with `option` and
/// contains no value, if the name is invalid or the value has a control character.
std::string header_line(const std::string& name, const std::string& value,
                        const std::string& option, int code);

}  // namespace bridge
