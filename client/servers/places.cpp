#include "servers/places.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "servers/input_values.hpp"
#include "servers/sha256.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr std::size_t longest_name = 32;
constexpr std::size_t hash_digits = 24;
constexpr std::string_view harmless =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

/// Returns what keeps it from being used.
std::string make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fmt::format("cannot make the folder {}: {}", make_visible_line(path),
                       std::strerror(errno));
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
    return fmt::format("{} is no folder", make_visible_line(path));
  if (facts.st_uid != ::geteuid())
    return fmt::format("the folder {} belongs to the user {}", make_visible_line(path),
                       facts.st_uid);
  if ((facts.st_mode & 077) != 0)
    return fmt::format("others may use the folder {}: chmod 700 it", make_visible_line(path));
  return {};
}

/// Makes it and all above it. Those above it may be open to others.
std::string make_folders(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != path.npos; at = path.find('/', at + 1))
    ::mkdir(path.substr(0, at).c_str(), 0700);
  return make_private_folder(path);
}

std::optional<std::string> folder_in(ReadVariable read, const char* name) {
  auto folder = read(name);
  return folder && folder->front() == '/' ? folder : std::nullopt;
}

std::optional<FileDescriptor> lock_starting(const Places& places, int how) {
  FileDescriptor lock(::open((places.runtime + "/starting").c_str(),
                             O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return std::nullopt;
  while (::flock(lock.get(), how) != 0) {
    if (errno != EINTR) return std::nullopt;
  }
  return lock;
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
  if (!state && !home) return std::string("neither XDG_STATE_HOME nor HOME names a folder");
  places.state = (state ? *state : *home + "/.local/state") + "/mcp-bridged";
  if (auto fault = make_folders(places.state); !fault.empty()) return fault;
  return places;
}

std::string harmless_name(std::string_view name) {
  std::string text(name.substr(0, longest_name));
  for (char& c : text) {
    if (harmless.find(c) == harmless.npos) c = '_';
  }
  if (text.empty() || text.front() == '.') text.insert(0, "_");
  return text;
}

std::string instance_of(const NamedServer& server, ReadVariable read) {
  // Each part with its length: no two lists of parts are the same bytes.
  std::string parts;
  const auto add = [&parts](std::string_view part) {
    parts += fmt::format("{}:{}", part.size(), part);
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
  for (const WantedVariable& variable : variables.environment) add_value(variable.name);
  for (const WantedInput& input : variables.inputs) add_value(bridge::variable_of_input(input.id));
  return harmless_name(server.definition.name) + "-" + sha256_hex(parts).substr(0, hash_digits);
}

InstancePaths paths_of(const Places& places, std::string_view instance) {
  return {fmt::format("{}/{}.sock", places.runtime, instance),
          fmt::format("{}/{}.json", places.runtime, instance),
          fmt::format("{}/{}.log", places.state, instance)};
}

std::optional<FileDescriptor> lock_starting(const Places& places) {
  return lock_starting(places, LOCK_EX);
}

std::optional<FileDescriptor> try_to_lock_starting(const Places& places) {
  return lock_starting(places, LOCK_EX | LOCK_NB);
}

}  // namespace client
