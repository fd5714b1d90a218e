#include "downstream/http/routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "json/json_object.hpp"
#include "text/characters.hpp"

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

namespace {

constexpr std::string_view components = R"({
    "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": "If the daemon was given --http-token-file"}},
    "parameters": {
      "SessionId": {"name": "Mcp-Session-Id", "in": "header", "description": "All but initialize; without it the message stands alone. 2026-07-28 has none", "schema": {"type": "string"}},
      "RequiredSessionId": {"name": "Mcp-Session-Id", "in": "header", "required": true, "schema": {"type": "string"}},
      "OldSessionId": {"name": "sessionId", "in": "query", "required": true, "schema": {"type": "string"}},
      "ProtocolVersion": {"name": "MCP-Protocol-Version", "in": "header", "schema": {"type": "string", "enum": ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]}},
      "Method": {"name": "Mcp-Method", "in": "header", "description": "2026-07-28: the method of the body; the name beside it, and Mcp-Param-* as the tool's inputSchema says", "schema": {"type": "string"}},
      "Name": {"name": "Mcp-Name", "in": "header", "description": "2026-07-28: params.name or params.uri of the body, in Base64 form where it is needed", "schema": {"type": "string"}},
      "LastEventId": {"name": "Last-Event-ID", "in": "header", "description": "Resume after this event", "schema": {"type": "string"}},
      "Prefer": {"name": "Prefer", "in": "header", "description": "respond-async: the answer comes on the session's stream", "schema": {"type": "string"}}
    },
    "requestBodies": {
      "Messages": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}}
    },
    "responses": {
      "Answer": {
        "description": "The answer: JSON, or an event stream by Accept",
        "headers": {"Mcp-Session-Id": {"description": "With the answer to initialize: names the session from then on", "schema": {"type": "string"}}},
        "content": {
          "application/json": {"schema": {"$ref": "#/components/schemas/Body"}},
          "text/event-stream": {"schema": {"type": "string"}}
        }
      },
      "Accepted": {
        "description": "A notification or an answer was taken; or, asked for with Prefer, the requests were",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Accepted"}}}
      },
      "Ended": {"description": "It has ended"},
      "Stream": {"description": "Server-sent events, a JSON-RPC message each", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
      "Text": {"description": "Text", "content": {"text/plain": {"schema": {"type": "string"}}}},
      "Object": {"description": "A JSON object", "content": {"application/json": {"schema": {"type": "object"}}}},
      "Error": {"description": "A JSON-RPC error", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}},
      "Unauthorized": {
        "description": "A bearer token is needed",
        "headers": {"WWW-Authenticate": {"schema": {"type": "string"}}},
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Message"}}}
      }
    },
    "schemas": {
      "Message": {
        "type": "object",
        "properties": {
          "jsonrpc": {"const": "2.0"},
          "id": {"type": ["string", "number", "null"]},
          "method": {"type": "string"},
          "params": {"type": "object"},
          "result": {"type": "object"},
          "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "data": {}}
          }
        }
      },
      "Body": {
        "oneOf": [
          {"$ref": "#/components/schemas/Message"},
          {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Message"}}
        ]
      },
      "Accepted": {
        "type": "object",
        "required": ["accepted"],
        "properties": {"accepted": {"type": "array", "items": {"type": ["string", "number"]}}}
      }
    }
  })";

JsonObject reference(std::string_view kind, std::string_view name) {
  return JsonObject().add("$ref", fmt::format("#/components/{}/{}", kind, name));
}

/// The responses by status, with those that follow from access and body.
std::map<int, std::string_view> responses_of(const Route& route, const Operation& operation) {
  std::map<int, std::string_view> responses(operation.responses.begin(), operation.responses.end());
  if (route.access == Access::trusted)
    responses.insert({{400, "Error"}, {401, "Unauthorized"}, {403, "Error"}});
  if (operation.body == RequestBody::messages)
    responses.insert({{413, "Error"}, {415, "Error"}, {503, "Error"}});
  return responses;
}

JsonObject description_of(const Route& route, const Operation& operation) {
  const bool is_alias = !route.same_as.empty();
  JsonObject described;
  described.add("operationId", fmt::format("{}{}", operation.id, is_alias ? "Alias" : ""))
      .add("tags", JsonArray().add(route.tag))
      .add("summary", is_alias ? fmt::format("The same as {} {}", operation.method, route.same_as)
                               : std::string(operation.summary));
  if (route.access == Access::anybody) described.add("security", JsonArray());
  JsonArray parameters;
  for (const std::string_view name : operation.parameters)
    parameters.add(reference("parameters", name));
  if (!operation.parameters.empty()) described.add("parameters", parameters);
  if (operation.body == RequestBody::messages)
    described.add("requestBody", reference("requestBodies", "Messages"));
  JsonObject responses;
  for (const auto& [status, name] : responses_of(route, operation))
    responses.add(std::to_string(status), reference("responses", name));
  return described.add("responses", responses);
}

JsonObject tag(std::string_view name, std::string_view description) {
  return JsonObject().add("name", name).add("description", description);
}

}  // namespace

std::string open_api_document(const Routes& routes) {
  JsonObject paths;
  for (const Route& route : routes) {
    JsonObject operations;
    for (const Operation& operation : route.operations) {
      operations.add(ascii_lower(operation.method), description_of(route, operation));
    }
    paths.add(route.path, operations);
  }
  const JsonObject license =
      JsonObject().add("name", "See the project").add("identifier", "LicenseRef-project");
  const JsonObject info =
      JsonObject()
          .add("title", "MCP session bridge")
          .add("summary", "One MCP session as a remote MCP server")
          .add("description",
               "Streamable HTTP transport of the Model Context Protocol on /mcp. Every body is one "
               "JSON-RPC 2.0 message, or an array of them.")
          .add("license", license)
          .add("version", MCP_BRIDGE_VERSION);
  return JsonObject()
      .add("openapi", "3.1.0")
      .add("info", info)
      .add("servers", JsonArray().add(JsonObject().add("url", "/")))
      .add("security", JsonArray().add(JsonObject().add("bearer", JsonArray())).add(JsonObject()))
      .add("tags", JsonArray()
                       .add(tag("mcp", "Messages and streams"))
                       .add(tag("operation", "What an operator looks at")))
      .add("paths", paths)
      .add("components", RawJson{components})
      .text();
}

}  // namespace bridge
