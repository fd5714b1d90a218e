#include <chrono>

#include "base/start_error.hpp"
#include "harness.hpp"
#include "json/relaxed_json.hpp"
#include "servers/dotenv.hpp"
#include "servers/server_config.hpp"
#include "servers/toml_text.hpp"
#include "servers/variables.hpp"

// A file of servers, as JSON, TOML or dotenv, is read or refused in linear time, and the result is
// bounded; a text with variables also. Run with -max_len=1048576, the longest file.

namespace bridge {

// There are no prompts here.
std::optional<std::string> ask_for_input(const InputDefinition&) { return std::nullopt; }
bool has_terminal() { return false; }

// Replaces the log's, which would need its libraries; only its bound matters here.
std::string printable(std::string_view text, std::size_t limit) {
  return std::string(text.substr(0, limit));
}

}  // namespace bridge

namespace {

using Clock = std::chrono::steady_clock;

std::size_t size_of(const bridge::ServerEntry& entry) {
  std::size_t size = entry.command.size() + entry.folder.size() + entry.url.size();
  for (const auto& argument : entry.arguments) size += argument.size();
  for (const auto& [name, value] : entry.environment) size += value.size();
  for (const auto& [name, value] : entry.headers) size += value.size();
  return size;
}

void read(std::string_view text) {
  try {
    const bridge::ServerConfig config = bridge::read_server_config(text, "file");
    bridge::InputSources sources;
    sources.given = {{"a", "1"}, {"b", std::string(1000, 'b')}};
    for (const bridge::ServerEntry& entry : config.servers) {
      try {
        MUST(size_of(bridge::resolve_server(entry, config, sources, "file")) <=
             bridge::max_expanded);
      } catch (const bridge::StartError&) {
      }
    }
  } catch (const bridge::StartError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto begin = Clock::now();
  MUST(bridge::strict_json(text).size() == text.size());
  const auto value = [](const bridge::Variable& variable) -> std::optional<std::string> {
    if (variable.name.size() % 2 == 0) return std::nullopt;
    return "value";
  };
  const bridge::Expansion expansion = bridge::expand_variables(text, value);
  MUST(expansion.text.size() <= bridge::max_expanded);
  read(text);
  for (const char* const path : {"config.toml", ".gemini/settings.json"}) {
    const bridge::FileAsJson file = bridge::file_as_json(text, path, bridge::toml_as_json);
    MUST(file.text.empty() || file.fault.empty());
    if (file.fault.empty()) read(file.text);
  }
  MUST(!bridge::toml_as_json(text).fault.empty() ||
       bridge::place_of_fault(bridge::toml_as_json(text).text).empty());
  std::string fault;
  static_cast<void>(bridge::read_dotenv(text, fault));
  // Allows for sanitizers and a slow machine: quadratic time would take minutes.
  MUST(Clock::now() - begin < std::chrono::seconds(10));
  return 0;
}
