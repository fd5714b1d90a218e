#include "downstream/http/routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

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

constexpr std::string_view until_version = R"({
  "openapi": "3.1.0",
  "info": {
    "title": "MCP session bridge",
    "summary": "One MCP session as a remote MCP server",
    "description": "Streamable HTTP transport of the Model Context Protocol on /mcp. Every body is one JSON-RPC 2.0 message, or an array of them.",
    "license": {"name": "See the project", "identifier": "LicenseRef-project"},
    "version": ")";

constexpr std::string_view until_paths = R"("
  },
  "servers": [{"url": "/"}],
  "security": [{"bearer": []}, {}],
  "tags": [
    {"name": "mcp", "description": "Messages and streams"},
    {"name": "operation", "description": "What an operator looks at"}
  ],
  "paths": {
)";

constexpr std::string_view components = R"(
  },
  "components": {
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
  }
}
)";

std::string reference(std::string_view kind, std::string_view name) {
  return fmt::format(R"({{"$ref": "#/components/{}/{}"}})", kind, name);
}

/// By status, with what follows from access and body.
std::map<int, std::string_view> responses_of(const Route& route, const Operation& operation) {
  std::map<int, std::string_view> responses(operation.responses.begin(), operation.responses.end());
  if (route.access == Access::trusted)
    responses.insert({{400, "Error"}, {401, "Unauthorized"}, {403, "Error"}});
  if (operation.body == RequestBody::messages)
    responses.insert({{413, "Error"}, {415, "Error"}, {503, "Error"}});
  return responses;
}

/// The members of an object or the elements of an array, from what `write` makes of each.
template <class Range, class Write>
std::string list_of(const Range& range, std::string_view separator, Write&& write) {
  std::string text;
  for (const auto& one : range) text.append(text.empty() ? "" : separator).append(write(one));
  return text;
}

std::string lower_case(std::string_view method) {
  std::string text(method);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(c | 0x20); });
  return text;
}

std::string member_of(const Route& route, const Operation& operation) {
  const bool is_alias = !route.same_as.empty();
  std::string text = fmt::format(
      "      \"{}\": {{\n        \"operationId\": \"{}{}\", \"tags\": [\"{}\"], \"summary\": \"{}\"",
      lower_case(operation.method), operation.id, is_alias ? "Alias" : "", route.tag,
      is_alias ? fmt::format("The same as {} {}", operation.method, route.same_as)
               : std::string(operation.summary));
  if (route.access == Access::anybody) text += ", \"security\": []";
  if (!operation.parameters.empty()) {
    text += fmt::format(",\n        \"parameters\": [{}]",
                        list_of(operation.parameters, ", ",
                                [](auto name) { return reference("parameters", name); }));
  }
  if (operation.body == RequestBody::messages)
    text += ",\n        \"requestBody\": " + reference("requestBodies", "Messages");
  const auto responses = list_of(responses_of(route, operation), ",\n", [](const auto& one) {
    return fmt::format("          \"{}\": {}", one.first, reference("responses", one.second));
  });
  return text += fmt::format(",\n        \"responses\": {{\n{}\n        }}\n      }}", responses);
}

}  // namespace

std::string open_api_document(const Routes& routes) {
  const auto paths = list_of(routes, ",\n", [](const Route& route) {
    const auto operations = list_of(route.operations, ",\n", [&route](const Operation& operation) {
      return member_of(route, operation);
    });
    return fmt::format("    \"{}\": {{\n{}\n    }}", route.path, operations);
  });
  return std::string(until_version)
      .append(MCP_BRIDGE_VERSION)
      .append(until_paths)
      .append(paths)
      .append(components);
}

}  // namespace bridge
