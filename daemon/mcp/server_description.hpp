#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// What the upstream has said of itself when the session was opened: its InitializeResult (MCP
/// 2025-11-25, "Lifecycle"), kept byte for byte. A value; what reads it asks here, so that another
/// way of learning it (`server/discover` of MCP 2026-07-28) is added here.
class ServerDescription {
 public:
  explicit ServerDescription(std::string initialize_result);

  const std::string& initialize_result() const { return result_; }
  /// The InitializeResult for one who asked for the revision `asked`: if that is an older known
  /// one, it is the version of the answer; everything else stays byte for byte.
  std::string initialize_result_for(std::string_view asked) const;

  /// The revision that is spoken; empty if the server named none.
  const std::string& protocol_version() const { return protocol_version_; }
  /// Whether the protocol has an `initialize` ("legacy"), as all revisions before 2026-07-28.
  std::string_view era() const { return "legacy"; }
  /// `serverInfo` as JSON; "null" if there is none.
  std::string_view server_info() const;
  /// The `list_changed` notifications that the server declares it may send.
  std::vector<std::string> declared_list_changes() const;

 private:
  std::string result_;
  std::string protocol_version_;
};

}  // namespace bridge
