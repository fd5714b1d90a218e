#include "mcp/tool_headers.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "json/json_scanner.hpp"
#include "json/json_text.hpp"
#include "text/characters.hpp"

namespace bridge {

ToolList::Page ToolList::take_page(std::string_view asked_cursor, std::string_view result) {
  if (asked_cursor.empty()) {
    coming_ = {};
  } else if (!coming_.is_there || asked_cursor != coming_.next_cursor) {
    return Page::ignored;
  }
  coming_.is_there = true;
  const std::string_view cursor = find_member(result, "nextCursor").value_or("");
  const auto tools = find_member(result, "tools");
  const bool is_repeated = is_string(cursor) && !coming_.cursors.is_new(cursor);
  const bool has_more = is_string(cursor) && !is_repeated;
  if (!tools || !append(coming_, *tools) || (++coming_.pages == most_pages && has_more)) {
    // The former list is outdated, and this one is too large to keep.
    forget();
    return Page::too_much;
  }
  if (has_more) {
    coming_.next_cursor = cursor;
    return Page::taken;
  }
  whole_ = std::exchange(coming_, {});
  whole_.next_cursor.clear();
  whole_.cursors = {};
  whole_.bytes.shrink_to_fit();
  return is_repeated ? Page::repeats_cursor : Page::last;
}

ToolList ToolList::arrived_so_far() const {
  ToolList list;
  list.whole_ = coming_;
  return list;
}

/// False if `tools` is not an array or the list gets too long.
bool ToolList::append(List& list, std::string_view tools) {
  if (tools.front() != '[') return false;
  return each_element(tools, [&](std::string_view tool) {
    auto name = find_string(tool, "name");
    if (!name) return true;
    if (list.bytes.size() + tool.size() > longest) return false;
    const Slice place{list.bytes.size(), list.bytes.size() + tool.size()};
    if (list.tools.try_emplace(std::move(*name), place).second) list.bytes += tool;
    return true;
  });
}

std::string_view ToolList::find(std::string_view name) const {
  const auto found = whole_.tools.find(name);
  return found == whole_.tools.end() ? std::string_view() : found->second.of(whole_.bytes);
}

std::vector<std::string_view> ToolList::names() const {
  std::vector<std::string_view> all;
  all.reserve(whole_.tools.size());
  for (const auto& [name, place] : whole_.tools) all.push_back(name);
  std::sort(all.begin(), all.end(), [this](std::string_view left, std::string_view right) {
    return whole_.tools.find(left)->second.begin < whole_.tools.find(right)->second.begin;
  });
  return all;
}

void ToolList::forget() {
  whole_ = {};
  coming_ = {};
}

namespace {

constexpr std::string_view annotation = "x-mcp-header";

/// A token of RFC 9110, section 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && text.find_first_not_of(token_characters) == text.npos;
}

std::string text_of(std::string_view raw_string) {
  return unescape(raw_string.substr(1, raw_string.size() - 2));
}

/// Where in a schema a value is.
enum class Place { root, parameter, elsewhere };

/// Reads the inputSchema of one tool. The scanner's depth bounds the recursion.
class SchemaWalk {
 public:
  SchemaWalk(JsonScanner& scanner, std::string_view text) : scanner_(scanner), text_(text) {}

  bool schema(Place place) {
    if (scanner_.peek() == '[') {
      return scanner_.array([this] { return schema(Place::elsewhere); });
    }
    if (scanner_.peek() != '{') return skip();
    Slice header;
    Slice type;
    const bool walked = scanner_.object([&](Slice raw) {
      const std::string_view key = raw.of(text_);
      if (key_is(key, "properties")) return properties(place != Place::elsewhere);
      if (is_data(key)) return skip();
      if (is_map_of_schemas(key)) return properties(false);
      const bool is_header = key_is(key, annotation);
      Slice* const noted = is_header ? &header : key_is(key, "type") ? &type : nullptr;
      if (noted == nullptr) return schema(Place::elsewhere);
      if (noted->present()) fault("duplicate keyword beside an x-mcp-header");
      return scanner_.value(*noted);
    });
    if (walked && header.present()) note(place, header.of(text_), type.of(text_));
    return walked;
  }

  std::string_view reason() const { return reason_; }
  std::vector<ToolHeader>& headers() { return headers_; }

 private:
  bool skip() {
    Slice ignored;
    return scanner_.value(ignored);
  }

  static bool is_data(std::string_view key) {
    return key_is(key, "const") || key_is(key, "default") || key_is(key, "enum") ||
           key_is(key, "examples");
  }
  static bool is_map_of_schemas(std::string_view key) {
    return key_is(key, "$defs") || key_is(key, "definitions") || key_is(key, "patternProperties") ||
           key_is(key, "dependentSchemas");
  }

  /// The values of an object whose names are not keywords.
  bool properties(bool reachable) {
    if (scanner_.peek() != '{') return schema(Place::elsewhere);
    return scanner_.object([this, reachable](Slice key) {
      if (!reachable) return schema(Place::elsewhere);
      path_.push_back(key);
      const bool walked = schema(Place::parameter);
      path_.pop_back();
      return walked;
    });
  }

  void note(Place place, std::string_view header, std::string_view type) {
    if (place != Place::parameter) {
      return fault("an x-mcp-header is not reached through properties alone");
    }
    ToolHeader noted;
    if (!is_string(header) || header.size() > 6 * tool_header_limit::name) {
      return fault("an x-mcp-header is not a string, or too long");
    }
    noted.name = text_of(header);
    if (!is_token(noted.name) || noted.name.size() > tool_header_limit::name) {
      return fault("an x-mcp-header is not a header name, or too long");
    }
    if (!names_.insert(ascii_lower(noted.name)).second) {
      return fault("two parameters have the same x-mcp-header");
    }
    const std::string type_name = is_string(type) ? text_of(type) : std::string();
    if (type_name == "integer") {
      noted.type = ParameterType::integer;
    } else if (type_name == "boolean") {
      noted.type = ParameterType::boolean;
    } else if (type_name != "string") {
      return fault("an x-mcp-header is at a parameter that is not a string, integer or boolean");
    }
    std::size_t bytes = 0;
    for (const Slice& key : path_) bytes += key.size();
    if (path_.size() > tool_header_limit::depth || bytes > tool_header_limit::path) {
      return fault("the path to a parameter with an x-mcp-header is too long");
    }
    if (headers_.size() == tool_header_limit::all) return fault("too many x-mcp-header");
    for (const Slice& key : path_) noted.path.push_back(unescape(key.of(text_)));
    headers_.push_back(std::move(noted));
  }

  void fault(std::string_view reason) {
    if (reason_.empty()) reason_ = reason;
  }

  JsonScanner& scanner_;
  std::string_view text_;
  std::vector<Slice> path_;  ///< raw keys
  std::set<std::string> names_;
  std::vector<ToolHeader> headers_;
  std::string_view reason_;
};

/// Whether the text can contain an annotation at all: only \u can spell it differently.
bool may_be_annotated(std::string_view text) {
  return text.find(annotation) != text.npos || text.find("\\u") != text.npos;
}

/// Reads the tools one by one.
class ListWalk {
 public:
  ListWalk(std::string_view list, std::size_t known) : list_(list), scanner_(list), known_(known) {}

  ToolHeaders read() {
    scanner_.array([this] {
      const bool taken = tool();
      ++index_;
      return taken;
    });
    return std::move(found_);
  }

 private:
  bool tool() {
    Slice raw_name;
    SchemaWalk walk(scanner_, list_);
    if (scanner_.peek() != '{') return scanner_.value(raw_name);
    const bool walked = scanner_.object([&](Slice key) {
      if (key_is(key.of(list_), "inputSchema")) return walk.schema(Place::root);
      Slice value;
      if (!scanner_.value(value)) return false;
      if (key_is(key.of(list_), "name")) raw_name = value;
      return true;
    });
    if (walked) take(raw_name.of(list_), walk);
    return walked;
  }

  void take(std::string_view raw_name, SchemaWalk& walk) {
    std::string_view reason = walk.reason();
    if (reason.empty() && walk.headers().empty()) return;
    std::string name = is_string(raw_name) ? text_of(raw_name) : std::string();
    if (reason.empty() && name.size() > tool_header_limit::tool_name) {
      reason = "the name of a tool with x-mcp-header is too long";
    }
    if (reason.empty() && known_ + walk.headers().size() > tool_header_limit::all) {
      reason = "the server's tools have more than 1000 x-mcp-header";
    }
    if (!reason.empty()) {
      name.resize(std::min(name.size(), tool_header_limit::tool_name));
      found_.invalid.push_back({index_, std::move(name), reason});
      return;
    }
    known_ += walk.headers().size();
    found_.of_tools[std::move(name)] = std::move(walk.headers());
  }

  std::string_view list_;
  JsonScanner scanner_;
  std::size_t known_;
  std::size_t index_ = 0;
  ToolHeaders found_;
};

}  // namespace

ToolHeaders read_tool_headers(std::string_view result, std::size_t known) {
  if (!may_be_annotated(result)) return {};
  const auto tools = find_member(result, "tools");
  if (!tools || tools->front() != '[') return {};
  return ListWalk(*tools, known).read();
}

}  // namespace bridge
