#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace client {

/// What a server has said of itself. JSON as it came where it says so, "" for what is not there.
struct ServerPage {
  std::string name;
  std::string title;
  std::string version;
  std::string era;  ///< `legacy` or `modern`
  std::string protocol_version;
  std::string capabilities;  ///< JSON
  std::string instructions;
};

/// From the answers to server/discover and bridge/status.
ServerPage read_server(std::string_view discovered, std::string_view status);

/// `{name, title?, version, era, protocolVersion, capabilities, instructions?}`, with line break.
std::string server_json(const ServerPage& page);
/// For people. A `width` of 0 is no limit.
std::string render_server(const ServerPage& page, std::size_t width);

/// The names of the capabilities: `tools (listChanged), logging`.
std::string capability_names(std::string_view capabilities);

}  // namespace client
