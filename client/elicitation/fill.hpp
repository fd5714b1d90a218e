#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "elicitation/field.hpp"

namespace client {

/// Accepts a question of the server with values from elsewhere than a terminal. `params` are those
/// of the elicitation/create, `values` a JSON object of field names. A text is read as one that was
/// typed, by its field's type; other JSON stays as it is. A field without value has its default.
/// Gives the JSON-RPC result. Pure.
std::variant<std::string, FieldRefusal> fill_form(std::string_view params, std::string_view values);

}  // namespace client
