#include "servers/instance.hpp"

#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "json/text.hpp"
#include "json/value.hpp"
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

std::string record_of(const Instance& instance) {
  return fmt::format("{{\"name\":{},\"file\":{},\"summary\":{}}}\n", json::quote(instance.name),
                     json::quote(make_visible_line(instance.file)),
                     json::quote(kept(instance.summary)));
}

std::optional<Instance> read_record(std::string_view id, std::string_view text) {
  const auto record = json::parse(text);
  if (!record || !record->is(json::Value::Kind::object)) return std::nullopt;
  return Instance{std::string(id), std::string(record->string("name")),
                  std::string(record->string("file")), std::string(record->string("summary"))};
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

std::vector<Instance> typed_instances(std::string_view name, const Places& places) {
  std::vector<Instance> all = find_instances(places);
  std::erase_if(all, [name](const Instance& one) { return one.name != name || !one.file.empty(); });
  return all;
}

}  // namespace client
