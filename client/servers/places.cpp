#include "servers/places.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cstring>

#include "servers/variables.hpp"
#include "text/characters.hpp"
#include "text/sha256.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

constexpr std::size_t longest_name = 32;
constexpr std::size_t hash_digits = 24;

/// Returns why it is unusable.
std::string make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fmt::format("cannot create the folder {}: {}", path, std::strerror(errno));
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
    return fmt::format("{} is not a folder", path);
  if (facts.st_uid != ::geteuid())
    return fmt::format("the folder {} belongs to the user {}", path, facts.st_uid);
  if ((facts.st_mode & 077) != 0)
    return fmt::format("others may use the folder {0}; close it with: chmod 700 {0}", path);
  return {};
}

std::optional<std::string> folder_in(ReadVariable read, const char* name) {
  auto folder = read(name);
  return folder && folder->front() == '/' ? folder : std::nullopt;
}

}  // namespace

std::variant<Places, std::string> make_places(ReadVariable read) {
  Places places;
  const auto runtime = folder_in(read, "XDG_RUNTIME_DIR");
  places.runtime =
      runtime ? *runtime + "/mcp-bridged" : fmt::format("/tmp/mcp-bridged-{}", ::geteuid());
  if (auto fault = make_private_folder(places.runtime); !fault.empty()) return fault;
  const auto state = folder_in(read, "XDG_STATE_HOME");
  const auto home = folder_in(read, "HOME");
  if (!state && !home) return std::string("neither XDG_STATE_HOME nor HOME is set to a folder");
  places.state = (state ? *state : *home + "/.local/state") + "/mcp-bridged";
  make_folders(places.state, 0700);  // its parent folders may be open to others
  if (auto fault = make_private_folder(places.state); !fault.empty()) return fault;
  return places;
}

std::string harmless_name(std::string_view name) {
  std::string text(name.substr(0, longest_name));
  for (char& c : text) {
    if (!bridge::is_plain_in_names(c)) c = '_';
  }
  if (text.empty() || text.front() == '.') text.insert(0, "_");
  return text;
}

std::string instance_of(const NamedServer& server, ReadVariable read) {
  // Each part with its length, so that different lists of parts never give the same bytes.
  std::string parts;
  const auto add = [&parts](std::string_view part) {
    parts.append(std::to_string(part.size())).append(":").append(part);
  };
  add(server.file);
  add(server.folder);
  add(server.definition.name);
  add(server.definition.document);
  const NamedVariables variables = variables_of(server.definition);
  const auto add_value = [&](const std::string& name) {
    const auto value = read(name.c_str());
    add(name);
    add(value ? "=" + *value : "");
  };
  for (const auto& [name, has_default] : variables.environment) add_value(name);
  for (const bridge::InputDefinition& input : variables.inputs)
    add_value(bridge::variable_of_input(input.id));
  for (const std::string& word : server.settings.words) add(word);
  if (!server.settings.token.empty()) add(server.settings.token);
  return harmless_name(server.definition.name) + "-" +
         bridge::sha256_hex(parts).substr(0, hash_digits);
}

InstancePaths paths_of(const Places& places, std::string_view instance) {
  return {fmt::format("{}/{}.sock", places.runtime, instance),
          fmt::format("{}/{}.json", places.runtime, instance),
          fmt::format("{}/{}.log", places.state, instance)};
}

FileDescriptor lock_starting(const Places& places, bool waits) {
  FileDescriptor lock(::open((places.runtime + "/starting").c_str(),
                             O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  while (lock && ::flock(lock.get(), waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return {};
  }
  return lock;
}

}  // namespace client
