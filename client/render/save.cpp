#include "render/save.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files.hpp"
#include "json/document.hpp"
#include "system/files.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

using PartKind = ContentPart::Kind;

ContentPart json_part(std::string_view raw) { return {PartKind::json, std::string(raw)}; }

ContentPart data_part(std::string_view what, const Value& holder, const Value& base64) {
  return {PartKind::data, base64.text, std::string(what), std::string(holder.string("mimeType")),
          std::string(holder.string("uri"))};
}

/// One of a resource's contents: text or blob.
ContentPart read_contents(const Value& contents, std::string_view raw) {
  if (const Value* text = contents.find("text", Kind::string)) return {PartKind::text, text->text};
  if (const Value* blob = contents.find("blob", Kind::string)) {
    return data_part("blob", contents, *blob);
  }
  return json_part(raw);
}

ContentPart read_item(std::string_view raw) {
  const auto item = json::parse(raw);
  if (!item) return json_part(raw);
  const std::string_view type = item->string("type");
  if (type == "text") {
    if (const Value* text = item->find("text", Kind::string)) return {PartKind::text, text->text};
  } else if (type == "image" || type == "audio") {
    if (const Value* data = item->find("data", Kind::string)) {
      return data_part(type, *item, *data);
    }
  } else if (type == "resource") {
    if (const Value* resource = item->find("resource", Kind::object)) {
      return read_contents(*resource, raw);
    }
  }
  return json_part(raw);
}

std::vector<ContentPart> whole(std::string_view result) { return {json_part(result)}; }

std::optional<std::vector<std::string_view>> array_member(std::string_view object,
                                                          std::string_view name) {
  const auto found = json::member(object, name);
  return found ? json::elements(*found) : std::nullopt;
}

std::optional<std::string_view> step_into(std::string_view value, std::string_view step) {
  if (json::is_object(value)) return json::member(value, step);
  if (!json::is_array(value)) return std::nullopt;
  const auto place = bridge::to_unsigned(step);
  const auto all = json::elements(value);
  if (!place || !all || *place >= all->size()) return std::nullopt;
  return (*all)[*place];
}

constexpr std::size_t longest_name = 100;
constexpr int most_tries = 10000;

struct TypeEntry {
  std::string_view mime_type;
  std::string_view extension;
};

constexpr TypeEntry known_types[] = {
    {"image/png", "png"},       {"image/jpeg", "jpg"},        {"image/gif", "gif"},
    {"image/webp", "webp"},     {"image/svg+xml", "svg"},     {"image/bmp", "bmp"},
    {"image/tiff", "tiff"},     {"image/avif", "avif"},       {"audio/wav", "wav"},
    {"audio/x-wav", "wav"},     {"audio/mpeg", "mp3"},        {"audio/mp3", "mp3"},
    {"audio/ogg", "ogg"},       {"audio/flac", "flac"},       {"audio/webm", "weba"},
    {"audio/mp4", "m4a"},       {"audio/aac", "aac"},         {"video/mp4", "mp4"},
    {"video/webm", "webm"},     {"application/pdf", "pdf"},   {"application/json", "json"},
    {"application/zip", "zip"}, {"application/gzip", "gz"},   {"application/x-tar", "tar"},
    {"application/xml", "xml"}, {"application/wasm", "wasm"}, {"text/plain", "txt"},
    {"text/html", "html"},      {"text/css", "css"},          {"text/csv", "csv"},
    {"text/markdown", "md"},    {"text/xml", "xml"}};

std::string_view extension_for(std::string_view mime_type) {
  mime_type = mime_type.substr(0, mime_type.find_first_of("; "));
  const auto* found =
      std::find_if(std::begin(known_types), std::end(known_types),
                   [mime_type](const TypeEntry& entry) { return entry.mime_type == mime_type; });
  return found == std::end(known_types) ? "bin" : found->extension;
}

bool is_harmless(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

/// The last part of an address, reduced to harmless characters; may be empty.
std::string last_part(std::string_view address) {
  address = address.substr(0, address.find_first_of("?#"));
  while (!address.empty() && address.back() == '/') address.remove_suffix(1);
  address = address.substr(address.rfind('/') + 1);
  std::string name;
  for (const char c : address.substr(0, longest_name)) name.push_back(is_harmless(c) ? c : '_');
  const std::size_t start = name.find_first_not_of(".-_");
  return start == std::string::npos ? "" : name.substr(start);
}

struct NameParts {
  std::string stem;
  std::string extension;  // with its dot
};

NameParts split(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return {name, ""};
  return {name.substr(0, dot), name.substr(dot)};
}

}  // namespace

std::vector<ContentPart> read_tool_result(std::string_view result) {
  const auto items = array_member(result, "content");
  if (!items) return whole(result);
  std::vector<ContentPart> parts;
  for (const std::string_view item : *items) parts.push_back(read_item(item));
  // A tool with structured content writes it into a text item too; without one it is all there is.
  if (parts.empty()) {
    if (const auto structured = json::member(result, "structuredContent"))
      return whole(*structured);
  }
  return parts;
}

std::vector<ContentPart> read_resource(std::string_view result) {
  const auto items = array_member(result, "contents");
  if (!items) return whole(result);
  std::vector<ContentPart> parts;
  for (const std::string_view raw : *items) {
    const auto contents = json::parse(raw);
    parts.push_back(contents ? read_contents(*contents, raw) : json_part(raw));
  }
  return parts;
}

std::vector<ContentPart> read_prompt(std::string_view result) {
  const auto messages = array_member(result, "messages");
  if (!messages) return whole(result);
  std::vector<ContentPart> parts;
  for (const std::string_view raw : *messages) {
    const auto role = json::member(raw, "role");
    const auto content = json::member(raw, "content");
    if (!role || !json::is_string(*role) || !content) {
      parts.push_back(json_part(raw));
      continue;
    }
    parts.push_back({PartKind::heading, json::decode_string(*role) + ":"});
    parts.push_back(read_item(*content));
  }
  return parts;
}

std::vector<ContentPart> read_any_result(std::string_view result) {
  if (array_member(result, "contents")) return read_resource(result);
  if (array_member(result, "messages")) return read_prompt(result);
  return read_tool_result(result);
}

bool is_tool_error(std::string_view result) {
  const auto found = json::member(result, "isError");
  return found && *found == "true";
}

std::optional<std::string> field_at(std::string_view json, std::string_view path) {
  auto found = json::leading_value(json);
  while (found && !path.empty()) {
    if (path.front() == '.' || path.front() == '[') path.remove_prefix(1);
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    std::string_view step = path.substr(0, end);
    if (step.ends_with(']')) step.remove_suffix(1);
    path.remove_prefix(end);
    found = step_into(*found, step);
  }
  if (!found) return std::nullopt;
  return json::is_string(*found) ? json::decode_string(*found) : std::string(*found);
}

std::optional<std::string> field_of_result(std::string_view result, std::string_view path) {
  if (const auto structured = json::member(result, "structuredContent")) {
    if (auto found = field_at(*structured, path)) return found;
  }
  return field_at(result, path);
}

std::string choose_file_name(const ContentPart& part) {
  std::string name = last_part(part.name);
  if (name.empty()) name = part.what;
  // A name that brings its own extension keeps it, unless the type is known to be another.
  const std::string_view wanted = extension_for(part.mime_type);
  const std::string own = split(name).extension;
  const bool is_known = wanted != "bin";
  const bool differs = own.empty() || std::string_view(own).substr(1) != wanted;
  if (own.empty() || (is_known && differs && part.what != "blob")) {
    name.push_back('.');
    name += wanted;
  }
  return name;
}

std::variant<std::string, SaveFailure> save_file(const std::string& folder, const std::string& name,
                                                 std::string_view bytes) {
  const auto failure = [&folder](std::string_view what) {
    return SaveFailure{
        fmt::format("cannot write to '{}': {}{}", folder, what, std::strerror(errno))};
  };
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return failure("cannot create it: ");
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return failure("cannot open it: ");
  const NameParts parts = split(name);
  for (int number = 1; number <= most_tries; ++number) {
    const std::string candidate =
        number == 1 ? name : fmt::format("{}-{}{}", parts.stem, number, parts.extension);
    const FileDescriptor file(::openat(directory.get(), candidate.c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file && errno == EEXIST) continue;
    if (!file) return failure(candidate + ": ");
    if (!bridge::write_all(file.get(), bytes)) {
      const SaveFailure full_disk = failure(candidate + ": ");
      ::unlinkat(directory.get(), candidate.c_str(), 0);  // half a file is none
      return full_disk;
    }
    return fmt::format("{}{}{}", folder, folder.back() == '/' ? "" : "/", candidate);
  }
  return failure("no free name: ");
}

}  // namespace client
