#include <simdjson.h>

#include "text/utf8.hpp"

namespace bridge {

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

}  // namespace bridge
