#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mcp/era.hpp"

namespace bridge {

/// What the upstream has said of itself when the session was opened: its InitializeResult (MCP
/// 2025-11-25, "Lifecycle") or its DiscoverResult (MCP 2026-07-28, "Discovery"), kept byte for
/// byte. A value; what reads it asks here.
class ServerDescription {
 public:
  explicit ServerDescription(std::string initialize_result);
  /// What a modern server has said. `target` names it where it does not name itself.
  static ServerDescription discovered(std::string discover_result, std::string target);

  /// What it has said, as it came.
  const std::string& result() const { return result_; }
  /// The InitializeResult for one who asked for the revision `asked`: if that is an older known
  /// one, it is the version of the answer; everything else of a legacy server stays byte for byte.
  std::string initialize_result_for(std::string_view asked) const;
  /// The DiscoverResult for a modern client. `target` names a server that does not name itself.
  std::string discover_result(std::string_view target) const;

  /// The revision that is spoken; empty if the server named none.
  const std::string& protocol_version() const { return protocol_version_; }
  Era era() const { return era_; }
  /// What discovered() was given; empty for a legacy server.
  const std::string& target() const { return target_; }
  /// `serverInfo` as JSON; "null" if there is none.
  std::string_view server_info() const;
  /// The `list_changed` notifications that the server declares it may send.
  std::vector<std::string> declared_list_changes() const;
  /// Whether it declares this member of this capability as true, as `resources` `subscribe`.
  bool declares(std::string_view capability, std::string_view member) const;
  /// Whether it can be asked to make a call of a tool a task (MCP 2025-11-25, "Tasks:
  /// Capabilities").
  bool makes_calls_tasks() const;
  /// Whether it declares extensions.
  bool has_extensions() const;

 private:
  ServerDescription() = default;

  Era era_ = Era::legacy;
  std::string target_;  ///< of a modern server
  std::string result_;
  std::string protocol_version_;
};

}  // namespace bridge
