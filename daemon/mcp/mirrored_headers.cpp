#include "mcp/mirrored_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <system_error>
#include <utility>

#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_text.hpp"
#include "json/member_names.hpp"
#include "mcp/methods.hpp"
#include "text/base64.hpp"
#include "text/characters.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

constexpr std::string_view prefix = "=?base64?";
constexpr std::string_view suffix = "?=";

bool looks_encoded(std::string_view text) {
  return text.size() >= prefix.size() + suffix.size() && text.starts_with(prefix) &&
         text.ends_with(suffix);
}

/// RFC 4648, section 4: accepts only the encoder's own output for these bytes.
std::optional<std::string> decode_strictly(std::string_view text) {
  std::optional<std::string> bytes = decode_base64(text);
  if (bytes && base64(*bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace

std::string encode_header_value(std::string_view text) {
  if (fits_header(text, text.size(), Blanks::inside) && !looks_encoded(text)) {
    return std::string(text);
  }
  std::string value(prefix);
  value += base64(text);
  value += suffix;
  return value;
}

std::optional<std::string> decode_header_value(std::string_view value) {
  const bool is_clean = std::all_of(value.begin(), value.end(),
                                    [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\t'; });
  if (!is_clean) return std::nullopt;
  if (!looks_encoded(value)) return std::string(value);
  value.remove_prefix(prefix.size());
  value.remove_suffix(suffix.size());
  return decode_strictly(value);
}

std::optional<std::string> integer_text(std::string_view number) {
  constexpr double most = 9007199254740991.0;
  double value = 0;
  const char* const end = number.data() + number.size();
  const auto [last, error] = std::from_chars(number.data(), end, value);
  if (number.empty() || error != std::errc() || last != end) return std::nullopt;
  if (!(std::fabs(value) <= most) || std::trunc(value) != value) return std::nullopt;
  return std::to_string(static_cast<std::int64_t>(value));
}

namespace {

/// The parameters with a header, as a tree of their paths. Views and pointers into ToolHeaders.
struct Node {
  std::map<std::string_view, Node> children;
  const ToolHeader* header = nullptr;
  bool met = false;
};

Node tree_of(const std::vector<ToolHeader>& headers) {
  Node root;
  for (const ToolHeader& header : headers) {
    Node* node = &root;
    for (const std::string& name : header.path) node = &node->children[name];
    node->header = &header;
  }
  return root;
}

/// A header, and its text according to the body; none: it must be left out.
struct Mirrored {
  std::string header;
  std::optional<std::string> text;
  bool is_integer = false;
};

/// A scalar as text ("Value Encoding": type conversion); nullopt for any other value.
std::optional<std::string> scalar_text(std::string_view raw) {
  if (raw.empty() || raw == "null" || raw.front() == '{' || raw.front() == '[') return std::nullopt;
  if (is_string(raw)) return unescape(raw.substr(1, raw.size() - 2));
  return integer_text(raw).value_or(std::string(raw));
}

/// Reads from a request's params what the headers repeat.
class BodyWalk {
 public:
  BodyWalk(const Frame& request, const HeadersOfTools& known) : request_(request), known_(known) {}

  /// `whole`: reads all params, so that a repeated member is detected.
  void read(bool whole) {
    const std::string_view member = facts_of_method(request_.method).name_member;
    if (member.empty()) return;
    const bool is_call = request_.method == "tools/call";
    find_members(member, is_call, whole);
    const std::string_view raw = name_;
    std::optional<std::string> name = is_string(raw) ? scalar_text(raw) : std::nullopt;
    const auto tool = is_call && name ? known_.find(*name) : known_.end();
    found_.push_back({"Mcp-Name", std::move(name)});
    if (tool == known_.end()) return;
    if (!whole) find_members({}, true, false);
    Node root = tree_of(tool->second);
    object(arguments_, root);
    absent(root);
  }

  const std::vector<Mirrored>& found() const { return found_; }
  /// The header whose member is repeated; empty: none.
  const std::string& ambiguous() const { return ambiguous_; }

 private:
  /// Looks for the member with the name and for the arguments, until all that is needed is found.
  void find_members(std::string_view member, bool arguments, bool whole) {
    const std::string_view params = request_.text(request_.params);
    each_member(params, [&](std::string_view raw, std::string_view value) {
      if (!member.empty() && key_is(raw, member)) {
        if (!name_.empty()) ambiguous_ = "Mcp-Name";
        name_ = value;
        if (!whole) return false;
      } else if (arguments && key_is(raw, "arguments")) {
        if (whole && !arguments_.empty()) ambiguous_ = "Mcp-Param";
        arguments_ = value;
        if (member.empty()) return false;
      }
      return true;
    });
  }

  /// Follows the tree into an object. Its depth is that of the tree. A member that another parser
  /// could take for one in the tree is as ambiguous as a repeated one.
  void object(std::string_view text, Node& node) {
    each_member(text, [&](std::string_view raw, std::string_view value) {
      const auto child =
          raw.find('\\') == raw.npos ? node.children.find(raw) : node.children.find(unescape(raw));
      if (child != node.children.end()) return member(value, child->second);
      const bool is_similar =
          std::any_of(node.children.begin(), node.children.end(),
                      [raw](const auto& one) { return is_similar_name(raw, one.first); });
      if (is_similar) ambiguous_ = "Mcp-Param";
      return !is_similar;
    });
  }

  bool member(std::string_view value, Node& node) {
    if (std::exchange(node.met, true)) {
      ambiguous_ = "Mcp-Param";
      return false;
    }
    if (node.header != nullptr) {
      add(*node.header, scalar_text(value));
    }
    object(value, node);
    return ambiguous_.empty();
  }

  /// Reports the headers whose parameters are absent.
  void absent(const Node& node) {
    for (const auto& [name, child] : node.children) {
      if (child.header != nullptr && !child.met) add(*child.header, std::nullopt);
      absent(child);
    }
  }

  void add(const ToolHeader& header, std::optional<std::string> text) {
    found_.push_back(
        {"Mcp-Param-" + header.name, std::move(text), header.type == ParameterType::integer});
  }

  const Frame& request_;
  const HeadersOfTools& known_;
  std::string_view name_;
  std::string_view arguments_;
  std::vector<Mirrored> found_;
  std::string ambiguous_;
};

bool same_name(std::string_view left, std::string_view right) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
}

/// One header of a request: its value, or why it cannot be used.
struct Given {
  std::optional<std::string_view> value;
  bool twice = false;
};

Given find_field(std::span<const HeaderField> headers, std::string_view name) {
  Given given;
  for (const HeaderField& field : headers) {
    if (!same_name(field.name, name)) continue;
    given.twice = given.twice || given.value.has_value();
    given.value = field.value;
  }
  return given;
}

std::string mismatch(std::string_view header, std::string_view what) {
  return fmt::format("Header mismatch: {} {}", header, what);
}

/// Compares one header, whose value may be in the Base64 form, with the body.
std::optional<std::string> check(std::span<const HeaderField> headers, const Mirrored& mirrored,
                                 bool required) {
  const Given given = find_field(headers, mirrored.header);
  if (given.twice) return mismatch(mirrored.header, "is given twice");
  if (!given.value) {
    if (!mirrored.text || !required) return std::nullopt;
    return mismatch(mirrored.header, "is missing, but the body has its value");
  }
  const auto text = decode_header_value(*given.value);
  if (!text) return mismatch(mirrored.header, "has invalid characters or is not Base64");
  if (!mirrored.text)
    return mismatch(mirrored.header, "is given, but the body has no value for it");
  if (*text == *mirrored.text) return std::nullopt;
  if (mirrored.is_integer) {
    const auto number = integer_text(*text);
    if (number && number == integer_text(*mirrored.text)) return std::nullopt;
  }
  return mismatch(mirrored.header, "does not match the body");
}

/// Compares one header that is never encoded.
std::optional<std::string> check_plain(std::span<const HeaderField> headers,
                                       std::string_view header, std::string_view body) {
  const Given given = find_field(headers, header);
  if (!given.value) return mismatch(header, "is missing");
  if (given.twice) return mismatch(header, "is given twice");
  if (*given.value != body) return mismatch(header, "does not match the body");
  return std::nullopt;
}

}  // namespace

MirroredHeaders mirrored_headers(const Frame& request, const HeadersOfTools& known) {
  MirroredHeaders headers;
  std::size_t bytes = 0;
  const auto add = [&](std::string_view name, const std::string& value) {
    bytes += name.size() + value.size() + 4;
    if (value.size() > mirrored_limit::value || bytes > mirrored_limit::all) {
      headers.unsendable = name;
      return false;
    }
    std::string& line = headers.lines.emplace_back();
    line.reserve(name.size() + value.size() + 2);
    line += name;
    line += ": ";
    line += value;
    return true;
  };
  if (!fits_header(request.method, mirrored_limit::value, Blanks::inside)) {
    headers.unsendable = "Mcp-Method";
    return headers;
  }
  if (request.has_ambiguous_params && !facts_of_method(request.method).name_member.empty()) {
    headers.unsendable = "Mcp-Name";
    return headers;
  }
  add("Mcp-Method", request.method);
  BodyWalk body(request, known);
  body.read(false);
  headers.unsendable = body.ambiguous();
  if (!headers.unsendable.empty()) return headers;
  for (const Mirrored& mirrored : body.found()) {
    if (mirrored.text && !add(mirrored.header, encode_header_value(*mirrored.text))) break;
  }
  return headers;
}

std::optional<std::string> check_mirrored(std::span<const HeaderField> headers,
                                          const Frame& request, const HeadersOfTools& known) {
  const std::string_view version = request.text(request.protocol_version);
  const std::string revision =
      version.empty() ? std::string() : unescape(version.substr(1, version.size() - 2));
  if (auto refused = check_plain(headers, "MCP-Protocol-Version", revision)) return refused;
  if (auto refused = check_plain(headers, "Mcp-Method", request.method)) return refused;
  BodyWalk body(request, known);
  body.read(true);
  if (!body.ambiguous().empty()) {
    return mismatch(body.ambiguous(), "cannot be compared: its value is duplicate in the body");
  }
  for (const Mirrored& mirrored : body.found()) {
    const bool required = mirrored.header != "Mcp-Name" || may_require_input(request.method);
    if (auto refused = check(headers, mirrored, required)) return refused;
  }
  return std::nullopt;
}

}  // namespace bridge
