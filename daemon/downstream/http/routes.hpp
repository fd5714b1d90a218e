#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/request.hpp"
#include "http/response.hpp"
#include "json/received_text.hpp"
#include "router/client_channel.hpp"

namespace bridge {

class HttpConnection;
class HttpFrontend;

/// A complete request, from an admitted caller.
struct FrontendRequest {
  HttpConnection& connection;
  const RequestHead& head;
  ReceivedText body;
  ClientIdentity caller;  ///< without id and time
};

/// Answers a request; nullopt if the response comes later, or is a stream.
using Handler = std::optional<HttpResponse> (HttpFrontend::*)(FrontendRequest& request);

enum class Access {
  anybody,  ///< neither Host nor Origin nor a token is checked
  trusted,  ///< from an allowed site, with the token if --http-token-file is set
};

enum class RequestBody {
  none,
  messages,  ///< JSON-RPC, as application/json
};

/// Names of OpenAPI components, for responses by status.
using Names = std::vector<std::string_view>;
using Responses = std::vector<std::pair<int, std::string_view>>;

/// One method at a path.
struct Operation {
  std::string_view method;
  RequestBody body;
  Handler handler;
  // The rest is for OpenAPI.
  std::string_view id;
  std::string_view summary;
  Names parameters{};
  Responses responses{};  ///< in addition to those that follow from access and body
};

/// One path and its methods. Each also answers OPTIONS, a browser's preflight.
struct Route {
  std::string_view path;
  Access access;
  std::string_view tag;  ///< OpenAPI's
  std::vector<Operation> operations;
  bool answers_head = false;   ///< HEAD, like GET
  std::string_view same_as{};  ///< the path that this one is an alias of
};

/// The single table of what the frontend serves: dispatch, 404, 405 with `Allow`, and /openapi.json
/// are derived from it.
using Routes = std::vector<Route>;

/// Null: 404.
const Route* find_route(const Routes& routes, std::string_view path);
/// Null: 405, or OPTIONS.
const Operation* find_operation(const Route& route, std::string_view method);
/// The value of `Allow` (RFC 9110, section 10.2.1).
std::string allowed_methods(const Route& route);

/// GET /openapi.json: the table of routes as OpenAPI 3.1.
std::string open_api_document(const Routes& routes);

}  // namespace bridge
