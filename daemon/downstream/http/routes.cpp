#include "downstream/http/routes.hpp"

#include <algorithm>

namespace bridge {

const Route* find_route(const Routes& routes, std::string_view path) {
  const auto found = std::find_if(routes.begin(), routes.end(),
                                  [path](const Route& one) { return one.path == path; });
  return found == routes.end() ? nullptr : &*found;
}

const Operation* find_operation(const Route& route, std::string_view method) {
  if (method == "HEAD" && route.answers_head) method = "GET";
  const auto found = std::find_if(route.operations.begin(), route.operations.end(),
                                  [method](const Operation& one) { return one.method == method; });
  return found == route.operations.end() ? nullptr : &*found;
}

std::string allowed_methods(const Route& route) {
  std::string methods;
  for (const Operation& operation : route.operations) methods.append(operation.method).append(", ");
  if (route.answers_head) methods += "HEAD, ";
  return methods += "OPTIONS";
}

}  // namespace bridge
