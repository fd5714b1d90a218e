#include "servers/instance.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "connection/connect.hpp"
#include "json/text.hpp"
#include "json/value.hpp"
#include "servers/sha256.hpp"
#include "servers/whole_file.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr std::size_t longest_record = 64 << 10;
constexpr std::size_t longest_summary = 500;
constexpr std::string_view suffix = ".json";

std::string kept(const std::string& summary) {
  return make_visible_line(summary.substr(0, longest_summary));
}

}  // namespace

Instance instance_for(const NamedServer& server, std::string id) {
  return {std::move(id), server.definition.name, server.file, summary_of(server.definition),
          sha256_hex(server.definition.document)};
}

std::string record_of(const Instance& instance) {
  return fmt::format("{{\"name\":{},\"file\":{},\"summary\":{},\"definition\":{}}}\n",
                     json::quote(instance.name), json::quote(make_visible_line(instance.file)),
                     json::quote(kept(instance.summary)), json::quote(instance.definition));
}

std::optional<Instance> read_record(std::string_view id, std::string_view text) {
  const auto record = json::parse(text);
  if (!record || !record->is(json::Value::Kind::object)) return std::nullopt;
  return Instance{std::string(id), std::string(record->string("name")),
                  std::string(record->string("file")), std::string(record->string("summary")),
                  std::string(record->string("definition"))};
}

std::vector<Instance> find_instances(const Places& places) {
  std::vector<Instance> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(places.runtime.c_str()), &::closedir);
  if (!folder) return all;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string_view file = entry->d_name;
    if (!file.ends_with(suffix)) continue;
    const std::string id(file.substr(0, file.size() - suffix.size()));
    const InstancePaths paths = paths_of(places, id);
    const FileText record = read_whole_file(paths.record, longest_record);
    if (auto instance = read_record(id, record.text)) all.push_back(std::move(*instance));
  }
  std::sort(all.begin(), all.end(), [](const Instance& left, const Instance& right) {
    return std::tie(left.name, left.id) < std::tie(right.name, right.id);
  });
  return all;
}

bool is_of(const Instance& instance, const NamedServer& server) {
  if (instance.name != server.definition.name || instance.file != make_visible_line(server.file))
    return false;
  return !server.file.empty() || instance.summary == kept(summary_of(server.definition));
}

bool is_former(const Instance& instance, const NamedServer& server) {
  return instance.definition.empty()
             ? instance.summary != kept(summary_of(server.definition))
             : instance.definition != sha256_hex(server.definition.document);
}

void forget_ended(const Instance& instance, const Places& places) {
  // Who starts one writes its record first.
  if (!try_to_lock_starting(places)) return;
  const InstancePaths paths = paths_of(places, instance.id);
  const Milliseconds at_once(0);
  const auto connected = connect_to_daemon({paths.socket}, {}, at_once, Deadline::after(at_once));
  const auto* const failure = std::get_if<ConnectFailure>(&connected);
  if (failure != nullptr && failure->is_absent) ::unlink(paths.record.c_str());
}

std::string newest_log(std::string_view name, const Places& places) {
  constexpr std::string_view log_suffix = ".log";
  constexpr std::string_view digits = "0123456789abcdef";
  const std::string prefix = harmless_name(name) + "-";
  std::string newest;
  timespec written{};
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(places.state.c_str()), &::closedir);
  if (!folder) return newest;
  while (const dirent* const entry = ::readdir(folder.get())) {
    std::string_view file = entry->d_name;
    if (!file.starts_with(prefix) || !file.ends_with(log_suffix)) continue;
    file.remove_prefix(prefix.size());
    file.remove_suffix(log_suffix.size());
    struct stat facts {};
    const std::string path = fmt::format("{}/{}", places.state, entry->d_name);
    if (file.find_first_not_of(digits) != file.npos || ::lstat(path.c_str(), &facts) != 0) continue;
    const auto when = [](const timespec& time) { return std::pair(time.tv_sec, time.tv_nsec); };
    if (!newest.empty() && when(facts.st_mtim) < when(written)) continue;
    newest = path;
    written = facts.st_mtim;
  }
  return newest;
}

std::vector<Instance> typed_instances(std::string_view name, const Places& places) {
  std::vector<Instance> all = find_instances(places);
  std::erase_if(all, [name](const Instance& one) { return one.name != name || !one.file.empty(); });
  return all;
}

}  // namespace client
