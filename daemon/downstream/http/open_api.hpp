#pragma once

#include <string>

#include "downstream/http/routes.hpp"

namespace bridge {

/// GET /openapi.json: what the table of routes says, as OpenAPI 3.1.
std::string open_api_document(const Routes& routes);

}  // namespace bridge
