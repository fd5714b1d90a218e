#include "downstream/http/open_api.hpp"

#include <string_view>

namespace bridge {
namespace {

// In pieces, since a literal may have 64 KiB only where compilers are generous.
constexpr std::string_view until_version = R"({
  "openapi": "3.1.0",
  "info": {
    "title": "MCP session bridge",
    "summary": "One MCP session as a remote MCP server",
    "description": "Streamable HTTP transport of the Model Context Protocol on /mcp. Every body is one JSON-RPC 2.0 message, or an array of them.",
    "license": {"name": "See the project", "identifier": "LicenseRef-project"},
    "version": ")";

constexpr std::string_view paths = R"("
  },
  "servers": [{"url": "/"}],
  "security": [{"bearer": []}, {}],
  "tags": [
    {"name": "mcp", "description": "Messages and streams"},
    {"name": "operation", "description": "What an operator looks at"}
  ],
  "paths": {
    "/mcp": {
      "post": {
        "operationId": "postMessage", "tags": ["mcp"], "summary": "Send a message or an array of messages",
        "parameters": [
          {"$ref": "#/components/parameters/SessionId"},
          {"$ref": "#/components/parameters/ProtocolVersion"},
          {"name": "Prefer", "in": "header", "description": "respond-async: the answer comes on the session's stream", "schema": {"type": "string"}}
        ],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}},
        "responses": {
          "200": {
            "description": "The answer: JSON, or an event stream by Accept",
            "headers": {"Mcp-Session-Id": {"description": "With the answer to initialize: names the session from then on", "schema": {"type": "string"}}},
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/Body"}},
              "text/event-stream": {"schema": {"type": "string"}}
            }
          },
          "202": {
            "description": "A notification or an answer was taken; or, asked for with Prefer, the requests were",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Accepted"}}}
          },
          "400": {"$ref": "#/components/responses/Error"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Error"},
          "404": {"$ref": "#/components/responses/Error"},
          "413": {"$ref": "#/components/responses/Error"},
          "415": {"$ref": "#/components/responses/Error"},
          "503": {"$ref": "#/components/responses/Error"},
          "504": {"$ref": "#/components/responses/Error"}
        }
      },
      "get": {
        "operationId": "openStream", "tags": ["mcp"], "summary": "The session's event stream",
        "parameters": [
          {"$ref": "#/components/parameters/RequiredSessionId"},
          {"$ref": "#/components/parameters/ProtocolVersion"},
          {"$ref": "#/components/parameters/LastEventId"}
        ],
        "responses": {
          "200": {"$ref": "#/components/responses/Stream"},
          "400": {"$ref": "#/components/responses/Error"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Error"},
          "404": {"$ref": "#/components/responses/Error"},
          "406": {"$ref": "#/components/responses/Error"},
          "409": {"$ref": "#/components/responses/Error"},
          "503": {"$ref": "#/components/responses/Error"}
        }
      },
      "delete": {
        "operationId": "endSession", "tags": ["mcp"], "summary": "End the session",
        "parameters": [{"$ref": "#/components/parameters/RequiredSessionId"}],
        "responses": {
          "204": {"description": "It has ended"},
          "400": {"$ref": "#/components/responses/Error"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "404": {"$ref": "#/components/responses/Error"}
        }
      }
    },
    "/messages": {
      "post": {
        "operationId": "postMessageAlias", "tags": ["mcp"], "summary": "The same as POST /mcp",
        "parameters": [{"$ref": "#/components/parameters/SessionId"}, {"$ref": "#/components/parameters/ProtocolVersion"}],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}},
        "responses": {
          "200": {
            "description": "The answer: JSON, or an event stream by Accept",
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/Body"}},
              "text/event-stream": {"schema": {"type": "string"}}
            }
          },
          "202": {"description": "Taken", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Accepted"}}}},
          "default": {"$ref": "#/components/responses/Error"}
        }
      }
    },
    "/mcp/stream": {
      "get": {
        "operationId": "subscribe", "tags": ["mcp"],
        "summary": "Session notifications, and the answers to asynchronous POSTs, for any number of subscribers",
        "parameters": [{"$ref": "#/components/parameters/LastEventId"}],
        "responses": {
          "200": {"$ref": "#/components/responses/Stream"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Error"},
          "503": {"$ref": "#/components/responses/Error"}
        }
      }
    },
    "/sse": {
      "get": {
        "operationId": "openOldStream", "tags": ["mcp"], "summary": "HTTP+SSE of 2024-11-05: the stream; its first event names where to post",
        "responses": {
          "200": {"$ref": "#/components/responses/Stream"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Error"},
          "503": {"$ref": "#/components/responses/Error"}
        }
      }
    },
    "/message": {
      "post": {
        "operationId": "postOldMessage", "tags": ["mcp"], "summary": "HTTP+SSE of 2024-11-05: a message; its answer comes on the stream",
        "parameters": [{"name": "sessionId", "in": "query", "required": true, "schema": {"type": "string"}}],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}},
        "responses": {
          "202": {"description": "Taken", "content": {"text/plain": {"schema": {"type": "string"}}}},
          "400": {"$ref": "#/components/responses/Error"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Error"},
          "404": {"$ref": "#/components/responses/Error"},
          "413": {"$ref": "#/components/responses/Error"},
          "415": {"$ref": "#/components/responses/Error"}
        }
      }
    },
)";

constexpr std::string_view rest = R"(    "/healthz": {
      "get": {
        "operationId": "health", "tags": ["operation"], "summary": "The daemon is alive", "security": [],
        "responses": {"200": {"$ref": "#/components/responses/Text"}}
      }
    },
    "/readyz": {
      "get": {
        "operationId": "readiness", "tags": ["operation"], "summary": "The upstream can be reached, or was not needed yet", "security": [],
        "responses": {"200": {"$ref": "#/components/responses/Text"}, "503": {"$ref": "#/components/responses/Text"}}
      }
    },
    "/metrics": {
      "get": {
        "operationId": "metrics", "tags": ["operation"], "summary": "Prometheus exposition",
        "responses": {
          "200": {"$ref": "#/components/responses/Text"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "501": {"$ref": "#/components/responses/Text"}
        }
      }
    },
    "/status": {
      "get": {
        "operationId": "status", "tags": ["operation"], "summary": "The state of everything",
        "responses": {
          "200": {"description": "As bridge/status answers", "content": {"application/json": {"schema": {"type": "object"}}}},
          "401": {"$ref": "#/components/responses/Unauthorized"}
        }
      }
    },
    "/openapi.json": {
      "get": {
        "operationId": "openApi", "tags": ["operation"], "summary": "This document",
        "responses": {
          "200": {"description": "OpenAPI 3.1", "content": {"application/json": {"schema": {"type": "object"}}}},
          "401": {"$ref": "#/components/responses/Unauthorized"}
        }
      }
    }
  },
  "components": {
    "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": "If the daemon was given --http-token-file"}},
    "parameters": {
      "SessionId": {"name": "Mcp-Session-Id", "in": "header", "description": "All but initialize; without it the message stands alone", "schema": {"type": "string"}},
      "RequiredSessionId": {"name": "Mcp-Session-Id", "in": "header", "required": true, "schema": {"type": "string"}},
      "ProtocolVersion": {"name": "MCP-Protocol-Version", "in": "header", "schema": {"type": "string", "enum": ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]}},
      "LastEventId": {"name": "Last-Event-ID", "in": "header", "description": "Resume after this event", "schema": {"type": "string"}}
    },
    "responses": {
      "Stream": {"description": "Server-sent events, a JSON-RPC message each", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
      "Text": {"description": "Text", "content": {"text/plain": {"schema": {"type": "string"}}}},
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

}  // namespace

std::string open_api_document() {
  return std::string(until_version).append(MCP_BRIDGE_VERSION).append(paths).append(rest);
}

}  // namespace bridge
