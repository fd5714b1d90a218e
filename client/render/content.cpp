#include "render/content.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "json/document.hpp"
#include "render/table.hpp"
#include "text/base64.hpp"
#include "text/characters.hpp"

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
  if (const Value* blob = contents.find("blob", Kind::string))
    return data_part("blob", contents, *blob);
  return json_part(raw);
}

ContentPart read_item(std::string_view raw) {
  const auto item = json::parse(raw);
  if (!item) return json_part(raw);
  const std::string_view type = item->string("type");
  if (type == "text") return read_contents(*item, raw);
  if (type == "resource") return read_contents(item->object("resource"), raw);
  const bool has_data = type == "image" || type == "audio";
  const Value* const data = has_data ? item->find("data", Kind::string) : nullptr;
  return data == nullptr ? json_part(raw) : data_part(type, *item, *data);
}

std::optional<std::vector<std::string_view>> array_member(std::string_view object,
                                                          std::string_view name) {
  const auto found = json::find_member(object, name);
  return found ? json::elements(*found) : std::nullopt;
}

/// The parts in the list `name` of a result; the whole result, if it has no such list.
std::vector<ContentPart> parts_of(std::string_view result, std::string_view name,
                                  ContentPart (*read)(std::string_view raw)) {
  const auto items = array_member(result, name);
  if (!items) return {json_part(result)};
  std::vector<ContentPart> parts;
  for (const std::string_view item : *items) parts.push_back(read(item));
  return parts;
}

std::optional<std::string_view> step_into(std::string_view value, std::string_view step) {
  if (json::is_object(value)) return json::find_member(value, step);
  if (!json::is_array(value)) return std::nullopt;
  const auto place = bridge::to_unsigned(step);
  const auto all = json::elements(value);
  if (!place || !all || *place >= all->size()) return std::nullopt;
  return (*all)[*place];
}

constexpr std::size_t longest_name = 100;
constexpr int most_tries = 10000;

/// Each line is a type and its extension.
constexpr std::string_view known_types =
    "\nimage/png png\nimage/jpeg jpg\nimage/gif gif\nimage/webp webp\nimage/svg+xml svg"
    "\nimage/bmp bmp\nimage/tiff tiff\nimage/avif avif\naudio/wav wav\naudio/x-wav wav"
    "\naudio/mpeg mp3\naudio/mp3 mp3\naudio/ogg ogg\naudio/flac flac\naudio/webm weba"
    "\naudio/mp4 m4a\naudio/aac aac\nvideo/mp4 mp4\nvideo/webm webm\napplication/pdf pdf"
    "\napplication/json json\napplication/zip zip\napplication/gzip gz\napplication/x-tar tar"
    "\napplication/xml xml\napplication/wasm wasm\ntext/plain txt\ntext/html html\ntext/css css"
    "\ntext/csv csv\ntext/markdown md\ntext/xml xml\n";

std::string_view extension_for(std::string_view mime_type) {
  const std::string line = fmt::format("\n{} ", mime_type.substr(0, mime_type.find_first_of("; ")));
  const std::size_t found = known_types.find(line);
  if (found == known_types.npos) return "bin";
  const std::string_view rest = known_types.substr(found + line.size());
  return rest.substr(0, rest.find('\n'));
}

/// The last part of an address, with unsafe characters replaced; may be empty.
std::string last_part(std::string_view address) {
  address = address.substr(0, address.find_first_of("?#"));
  while (!address.empty() && address.back() == '/') address.remove_suffix(1);
  address = address.substr(address.rfind('/') + 1);
  std::string name;
  for (const char c : address.substr(0, longest_name))
    name.push_back(bridge::is_plain_in_names(c) ? c : '_');
  const std::size_t start = name.find_first_not_of(".-_");
  return start == std::string::npos ? "" : name.substr(start);
}

/// Where the extension of a name begins, with its dot.
std::size_t end_of_stem(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name.size() : dot;
}

/// The failure that a tool's result reports, for --json: its text, and the whole result.
Failure error_of_tool(const std::string& result, std::string_view hint) {
  Failure error{"tool", "", ExitCode::answered_error, "yes"};
  error.result = json::on_one_line(result);
  for (const ContentPart& part : read_tool_result(result)) {
    if (part.kind == ContentPart::Kind::text)
      error.message += (error.message.empty() ? "" : "\n") + part.text;
  }
  if (error.message.empty()) error.message = "the tool reported a failure";
  error.hint = hint_for_capability(error.message);
  if (error.hint.empty()) error.hint = hint;
  return error;
}

std::string with_line_end(const std::string& text) {
  return text.empty() || text.back() == '\n' ? text : text + "\n";
}

/// `is_only`: there is nothing else, so that a file or pipe gets the bytes of a resource. False if
/// not all of a resource is there then, or if it could not be saved.
bool present_data(const ContentPart& part, bool is_resource, bool is_only,
                  const std::string& save_folder, Console& console) {
  const auto bytes = bridge::decode_base64(part.text);
  if (!bytes) {
    console.note(fmt::format("cannot decode the {} from the server: not Base64 (--json shows it)",
                             part.what));
    return false;
  }
  if (save_folder.empty()) {
    const std::string shown = fmt::format(
        "{} {}, {}; --save DIR writes it to a file", part.what,
        part.mime_type.empty() ? "of no given type" : part.mime_type, size_text(bytes->size()));
    if (console.output_is_terminal()) {
      console.print(fmt::format("[{}]\n", shown));
    } else if (is_only) {
      console.print(*bytes);
    } else {
      console.note(fmt::format("not printed: {}, --json prints all", shown));
      return !is_resource;
    }
    return true;
  }
  const auto saved = save_file(save_folder, choose_file_name(part), *bytes);
  if (const auto* failure = std::get_if<SaveFailure>(&saved)) {
    console.note(failure->message);
    return false;
  }
  console.print_line(std::get<std::string>(saved));
  return true;
}

/// False if data could not be saved, which is reported on stderr.
bool present(const std::vector<ContentPart>& parts, bool is_resource,
             const std::string& save_folder, Console& console) {
  bool all_well = true;
  for (const ContentPart& part : parts) {
    if (part.kind == ContentPart::Kind::data) {
      const bool is_only = is_resource && parts.size() == 1;
      all_well = present_data(part, is_resource, is_only, save_folder, console) && all_well;
    } else {
      console.print(with_line_end(part.text));
    }
  }
  return all_well;
}

/// Writes the one text or piece of data, or all texts, to the file of --output.
ExitCode write_output(const std::vector<ContentPart>& parts, const Options& options,
                      Console& console) {
  const auto fail = [&](std::string message) {
    return tell_failure(console, options,
                        {"file", std::move(message), ExitCode::answered_error, "yes"});
  };
  std::string text;
  for (const ContentPart& part : parts) {
    const bool is_data = part.kind == ContentPart::Kind::data;
    if (is_data && parts.size() > 1)
      return fail(
          fmt::format("the result has {} parts; --save DIR writes each to a file", parts.size()));
    const auto bytes = is_data ? bridge::decode_base64(part.text) : part.text;
    if (!bytes) return fail("cannot decode the data from the server: not Base64");
    text += parts.size() == 1 ? *bytes : with_line_end(*bytes);
  }
  const FileDescriptor file(
      ::open(options.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666));
  if (!file || !bridge::write_all(file.get(), text))
    return fail(fmt::format("cannot write {}: {}", options.output, std::strerror(errno)));
  console.remark(fmt::format("{} written to {}", size_text(text.size()), options.output));
  return ExitCode::ok;
}

/// Without --save DIR in a new folder that only the user can access.
std::variant<std::string, SaveFailure> save(const std::string& text, const Options& options) {
  std::string folder = options.save;
  if (folder.empty()) {
    const char* const named = std::getenv("TMPDIR");
    folder = fmt::format("{}/mcp-nc-XXXXXX", named != nullptr && *named != '\0' ? named : "/tmp");
    if (::mkdtemp(folder.data()) == nullptr)
      return SaveFailure{fmt::format("cannot create '{}': {}", folder, std::strerror(errno))};
  }
  return save_file(folder, options.json ? "output.json" : "output.txt", text);
}

}  // namespace

std::vector<ContentPart> read_tool_result(std::string_view result) {
  std::vector<ContentPart> parts = parts_of(result, "content", read_item);
  // Structured content is normally repeated in a text item; otherwise it is the only content.
  if (!parts.empty()) return parts;
  if (const auto structured = json::find_member(result, "structuredContent"))
    return {json_part(*structured)};
  return parts;
}

std::vector<ContentPart> read_resource(std::string_view result) {
  return parts_of(result, "contents", [](std::string_view raw) {
    const auto contents = json::parse(raw);
    return contents ? read_contents(*contents, raw) : json_part(raw);
  });
}

std::vector<ContentPart> read_prompt(std::string_view result) {
  std::vector<ContentPart> parts;
  for (ContentPart& message : parts_of(result, "messages", json_part)) {
    const std::string role = json::string_member(message.text, "role");
    const auto content = json::find_member(message.text, "content");
    if (!role.empty() && content) {
      parts.push_back({PartKind::heading, role + ":"});
      parts.push_back(read_item(*content));
    } else {
      parts.push_back(std::move(message));
    }
  }
  return parts;
}

std::vector<ContentPart> read_any_result(std::string_view result) {
  if (array_member(result, "contents")) return read_resource(result);
  if (array_member(result, "messages")) return read_prompt(result);
  return read_tool_result(result);
}

bool is_tool_error(std::string_view result) {
  const auto found = json::find_member(result, "isError");
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
  if (const auto structured = json::find_member(result, "structuredContent")) {
    if (auto found = field_at(*structured, path)) return found;
  }
  return field_at(result, path);
}

std::string choose_file_name(const ContentPart& part) {
  std::string name = last_part(part.name);
  if (name.empty()) name = part.what;
  // A name keeps its own extension, unless the type requires another.
  const std::string_view wanted = extension_for(part.mime_type);
  const std::string own = name.substr(end_of_stem(name));
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
  const std::size_t stem = end_of_stem(name);
  for (int number = 1; number <= most_tries; ++number) {
    const std::string candidate =
        number == 1 ? name
                    : fmt::format("{}-{}{}", name.substr(0, stem), number, name.substr(stem));
    const FileDescriptor file(::openat(directory.get(), candidate.c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file && errno == EEXIST) continue;
    if (!file) return failure(candidate + ": ");
    if (!bridge::write_all(file.get(), bytes)) {
      const SaveFailure full_disk = failure(candidate + ": ");
      ::unlinkat(directory.get(), candidate.c_str(), 0);  // removes an incomplete file
      return full_disk;
    }
    return fmt::format("{}{}{}", folder, folder.back() == '/' ? "" : "/", candidate);
  }
  return failure("no free name: ");
}

ExitCode present_result(const std::string& result, ReadParts read_parts, const Options& options,
                        Console& console, std::string_view about, std::string_view hint) {
  const bool has_failed = is_tool_error(result);
  if (!options.field.empty() && !has_failed) return print_field(result, options, console);
  if (!options.output.empty() && !has_failed)
    return write_output(read_parts(result), options, console);
  if (options.json) {
    console.print_line(has_failed ? error_object(error_of_tool(result, hint)).text() : result);
  } else if (!present(read_parts(result), read_parts == read_resource, options.save, console)) {
    return ExitCode::answered_error;
  }
  if (has_failed) {
    const std::string needed = error_of_tool(result, {}).hint;
    console.note(fmt::format("{}the tool reported a failure{}{}", about, needed.empty() ? "" : "; ",
                             needed));
    return ExitCode::answered_error;
  }
  return ExitCode::ok;
}

ExitCode print_field(const std::string& result, const Options& options, Console& console) {
  const auto found = field_of_result(result, options.field);
  if (!found) {
    console.note(fmt::format("no '{}' in the result; --json shows all of it", options.field));
    return ExitCode::answered_error;
  }
  console.print_line(*found);
  return ExitCode::ok;
}

ExitCode print_held(Console& console, const Options& options, ExitCode code) {
  if (!options.max_bytes) return code;
  const std::string text = console.take_held();
  if (text.size() <= *options.max_bytes) {
    console.print(text);
    return code;
  }
  const auto saved = save(text, options);
  const auto* const file = std::get_if<std::string>(&saved);
  if (file == nullptr) {
    const std::string& why = std::get<SaveFailure>(saved).message;
    const ExitCode failed =
        tell_failure(console, options, {"file", why, ExitCode::answered_error, "yes"});
    if (options.json) return failed;
  } else if (options.json) {
    const json::JsonObject cut = json::JsonObject().add("bytes", text.size()).add("file", *file);
    console.print(json::JsonObject().add("cut", cut));
    return code;
  }
  std::string shown(bridge::whole_characters(text, static_cast<std::size_t>(*options.max_bytes)));
  if (!shown.empty() && shown.back() != '\n') shown += '\n';
  console.print(shown + (file == nullptr
                             ? fmt::format("[cut off after {} of {} bytes]\n", *options.max_bytes,
                                           text.size())
                             : fmt::format("[cut off after {} of {} bytes; all of it is in {}]\n",
                                           *options.max_bytes, text.size(), *file)));
  return file == nullptr ? ExitCode::answered_error : code;
}

}  // namespace client
