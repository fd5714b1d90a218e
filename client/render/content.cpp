#include "render/content.hpp"

#include "json/scan.hpp"
#include "json/value.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

ContentPart text_part(std::string_view text) {
  ContentPart part;
  part.text = text;
  return part;
}

ContentPart json_part(std::string_view raw) {
  ContentPart part;
  part.kind = ContentPart::Kind::json;
  part.text = raw;
  return part;
}

ContentPart data_part(std::string_view what, const Value& holder, const Value& base64) {
  ContentPart part;
  part.kind = ContentPart::Kind::data;
  part.text = base64.text;
  part.what = what;
  part.mime_type = holder.string("mimeType");
  part.name = holder.string("uri");
  return part;
}

/// One of a resource's contents: text or blob.
ContentPart read_contents(const Value& contents, std::string_view raw) {
  if (const Value* text = contents.find("text", Kind::string)) return text_part(text->text);
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
    if (const Value* text = item->find("text", Kind::string)) return text_part(text->text);
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
    ContentPart heading = text_part(json::decode_string(*role) + ":");
    heading.kind = ContentPart::Kind::heading;
    parts.push_back(std::move(heading));
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

}  // namespace client
