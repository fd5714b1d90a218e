#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mcp/tool_headers.hpp"
#include "policy/policy.hpp"

namespace bridge {

/// What a policy judges of a request: which item it is about. A value.
struct Subject {
  enum class Kind : std::uint8_t {
    session,  ///< what every peer may ask: `initialize`, `ping`, `server/discover`
    list,     ///< a list of items, or a listen: its answer is filtered
    tool,
    prompt,
    resource,  ///< or a template, by its text
    method,    ///< any other one
  };
  Kind kind = Kind::method;
  std::string name;  ///< of the item; of a method the method
  /// Whether the params name one item: a server could read an ambiguous request otherwise.
  bool is_clear = true;
};

/// Of a request of this method with these params (JSON, empty: none). Pure.
Subject subject_of(std::string_view method, std::string_view params);

/// Whether the kept list of the server's tools says of this one that it only reads.
bool reads_only(const ToolList& tools, std::string_view name);
/// Whether a tool, as the server's list has it, says so.
bool tool_reads_only(std::string_view tool);

/// Whether a peer that the rule holds for may ask this. Pure; no allocation.
bool allows(const PolicyRule& rule, const Subject& subject, const ToolList& tools);

/// What a peer is told whose request was denied. `file`: the policy's, named only to the daemon's
/// own user; empty for others.
std::string denial(const PolicyRule& rule, const Subject& subject, std::string_view file);

}  // namespace bridge
