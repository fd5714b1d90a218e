#pragma once

#include <string>

namespace bridge {

/// The description of the face, OpenAPI 3.1, for gateways that import one.
std::string open_api_document();

}  // namespace bridge
