#include "servers/input_values.hpp"

#include <cctype>
#include <cstdlib>

namespace bridge {

std::string variable_of_input(const std::string& id) {
  std::string name = "MCP_INPUT_";
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    name += byte < 0x80 && std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

std::optional<std::string> find_input(const std::string& id, const InputSources& sources) {
  for (const auto* source : {&sources.given, &sources.file}) {
    if (const auto found = source->find(id); found != source->end()) return found->second;
  }
  const char* const variable = std::getenv(variable_of_input(id).c_str());
  if (variable != nullptr && *variable != '\0') return variable;
  if (const auto found = sources.answers.find(id); found != sources.answers.end())
    return found->second;
  return std::nullopt;
}

}  // namespace bridge
