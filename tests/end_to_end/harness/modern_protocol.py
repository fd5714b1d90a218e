"""Words of MCP 2026-07-28 that the scripted server and the scripted client share, and how a value goes into a header."""

import base64
import binascii
import re

VERSION = "2026-07-28"
LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PREFIX = "io.modelcontextprotocol/"
PROTOCOL_VERSION = PREFIX + "protocolVersion"
CAPABILITIES = PREFIX + "clientCapabilities"
CLIENT_INFO = PREFIX + "clientInfo"
SERVER_INFO = PREFIX + "serverInfo"
LOG_LEVEL = PREFIX + "logLevel"
SUBSCRIPTION_ID = PREFIX + "subscriptionId"
TASKS = PREFIX + "tasks"
EVENTS = PREFIX + "events"

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
PROGRESS = "notifications/progress"
MESSAGE = "notifications/message"
CANCELLED = "notifications/cancelled"
UPDATED = "notifications/resources/updated"

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

# Methods of the older revisions that this one has not (changelog), and notifications of theirs.
REMOVED = ("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
           "notifications/initialized", "notifications/roots/list_changed")

# Caching, section "Cacheable Results".
CACHEABLE = ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
             "resources/read")

# MRTR, section "Supported Requests".
MAY_ASK = ("tools/call", "prompts/get", "resources/read")

ASKED_FOR = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}

# The field of a filter that asks for a notification.
FILTER_FIELD = {"notifications/tools/list_changed": "toolsListChanged",
                "notifications/prompts/list_changed": "promptsListChanged",
                "notifications/resources/list_changed": "resourcesListChanged"}

META_KEY = re.compile(r"(?:[a-zA-Z](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*/)?"
                      r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?)?\Z")
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
SENTINEL = re.compile(r"=\?base64\?(.*)\?=\Z", re.DOTALL)


def mirrored_name(method, params):
    """What `Mcp-Name` says for a request; None for one that has none. Tasks: the task's id (extension)."""
    field = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
             "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}.get(method)
    return params.get(field) if field else None


def header_text(value):
    """An argument as the text of a header, before it is encoded."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def encoded(text):
    """Streamable HTTP, section "Value Encoding"."""
    plain = all(0x20 <= ord(one) <= 0x7e or one == "\t" for one in text)
    if plain and text == text.strip(" \t") and text and not SENTINEL.match(text):
        return text
    return "=?base64?" + base64.b64encode(text.encode()).decode() + "?="


def decoded(value):
    """The text that a header's value stands for; ValueError if it is no valid one."""
    if any(not (0x20 <= ord(one) <= 0x7e or one == "\t") for one in value):
        raise ValueError("characters that a header cannot have")
    packed = SENTINEL.match(value)
    if not packed:
        return value
    try:
        return base64.b64decode(packed.group(1), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError(f"no Base64 of UTF-8: {error}") from None


def annotations(schema):
    """{header name: path} of a tool's `x-mcp-header`; ValueError for a definition that clients must reject."""
    found, names = {}, set()

    def looks(node, path, reachable):
        if isinstance(node, list):
            for one in node:
                looks(one, path, False)
            return
        if not isinstance(node, dict):
            return
        if "x-mcp-header" in node:
            name = node["x-mcp-header"]
            if not isinstance(name, str) or not TOKEN.match(name):
                raise ValueError(f"{name!r} is no header's name")
            if not reachable or not path:
                raise ValueError(f"{name} is not reached through properties alone")
            if node.get("type") not in ("string", "integer", "boolean"):
                raise ValueError(f"{name} is of type {node.get('type')}")
            if name.lower() in names:
                raise ValueError(f"{name} stands twice")
            names.add(name.lower())
            found[name] = path
        for key, child in node.items():
            if key == "properties" and isinstance(child, dict):
                for name, one in child.items():
                    looks(one, path + (name,), reachable)
            elif key not in ("x-mcp-header", "enum", "const", "default", "examples"):
                looks(child, path, False)

    looks(schema, (), True)
    return found


def value_at(arguments, path):
    """The argument at a path of properties; None if there is none, or null."""
    for key in path:
        if not isinstance(arguments, dict) or key not in arguments:
            return None
        arguments = arguments[key]
    return arguments


def wants(filters, method, params):
    """Whether a notification is what a filter of subscriptions/listen asks for."""
    if method in FILTER_FIELD:
        return filters.get(FILTER_FIELD[method]) is True
    if method == UPDATED:
        return params.get("uri") in filters.get("resourceSubscriptions", ())
    if method == "notifications/tasks":
        return params.get("taskId") in filters.get("taskIds", ())
    return False
