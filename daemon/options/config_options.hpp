#pragma once

#include <string>

namespace bridge {

/// An HTTP header as curl wants it. Throws StartError with `code`, which begins with `option` and
/// has no value in it, if the name is none or the value has a control character.
std::string header_line(const std::string& name, const std::string& value,
                        const std::string& option, int code);

}  // namespace bridge
