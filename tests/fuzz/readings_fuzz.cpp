#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness.hpp"
#include "json/frame.hpp"
#include "json/json_text.hpp"

// What the bridge accepts is read alike by other parsers: of each member that it acts on they find
// the same value. Their names are decoded and compared here independently of json/member_names.hpp;
// the last member counts, as with Go, JavaScript and Python.

namespace {

using bridge::Frame;
using bridge::parse_frame;

using Code = std::uint32_t;
using Name = std::u32string;

Code hex(std::string_view digits) {
  return static_cast<Code>(std::stoul(std::string(digits), nullptr, 16));
}

/// The code points of a raw name; lone surrogates stay. REQUIRES: valid JSON and UTF-8.
Name decoded(std::string_view raw) {
  Name name;
  for (std::size_t at = 0; at < raw.size();) {
    const auto byte = static_cast<unsigned char>(raw[at]);
    if (byte == '\\') {
      const char escaped = raw[at + 1];
      constexpr std::string_view letters = "bfnrt", controls = "\b\f\n\r\t";
      const auto letter = letters.find(escaped);
      if (escaped != 'u') {
        name.push_back(letter == letters.npos ? static_cast<Code>(escaped)
                                              : static_cast<Code>(controls[letter]));
        at += 2;
        continue;
      }
      Code code = hex(raw.substr(at + 2, 4));
      at += 6;
      if (code >= 0xD800 && code < 0xDC00 && raw.substr(at, 2) == "\\u") {
        const Code low = hex(raw.substr(at + 2, 4));
        if (low >= 0xDC00 && low < 0xE000) {
          code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
          at += 6;
        }
      }
      name.push_back(code);
      continue;
    }
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    Code code = length == 1 ? byte : byte & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i)
      code = code << 6 | (static_cast<unsigned char>(raw[at + i]) & 0x3Fu);
    name.push_back(code);
    at += length;
  }
  return name;
}

template <class Map>
Name mapped(const Name& name, Map&& map) {
  Name result;
  for (const Code code : name) result.push_back(map(code));
  return result;
}
Code ascii_lower(Code code) { return code >= 'A' && code <= 'Z' ? code + 32 : code; }

template <class Drop>
Name without(Name name, Drop&& drop) {
  std::erase_if(name, drop);
  return name;
}

/// How a parser sees a name.
struct Reader {
  const char* name;
  Name (*see)(const Name&);
};

constexpr std::array<Reader, 9> readers = {{
    {"exact", [](const Name& name) { return name; }},
    {"Go: simple folding",
     [](const Name& name) {
       return mapped(name, [](Code code) {
         return code == 0x17F ? Code{'s'} : code == 0x212A ? Code{'k'} : ascii_lower(code);
       });
     }},
    {"lower case",
     [](const Name& name) {
       return mapped(name, [](Code code) {
         return code == 0x130 ? Code{'i'} : code == 0x212A ? Code{'k'} : ascii_lower(code);
       });
     }},
    {"upper case",
     [](const Name& name) {
       return mapped(name, [](Code code) {
         return code == 0x131 ? Code{'i'} : code == 0x17F ? Code{'s'} : ascii_lower(code);
       });
     }},
    {"NUL at the end dropped",
     [](const Name& name) {
       Name result = name;
       while (!result.empty() && result.back() == 0) result.pop_back();
       return result;
     }},
    {"NUL ends it", [](const Name& name) { return name.substr(0, name.find(U'\0')); }},
    {"NUL dropped",
     [](const Name& name) { return without(name, [](Code code) { return code == 0; }); }},
    {"controls and surrogates dropped",
     [](const Name& name) {
       return without(name, [](Code code) {
         return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0xD800 && code < 0xE000) ||
                code == 0xFEFF;
       });
     }},
    {"Go, after NUL was dropped",
     [](const Name& name) {
       return mapped(without(name, [](Code code) { return code == 0; }), [](Code code) {
         return code == 0x17F ? Code{'s'} : code == 0x212A ? Code{'k'} : ascii_lower(code);
       });
     }},
}};

/// Only the visible characters of ASCII, without case.
Name loosest(const Name& name) {
  const Name folded = mapped(name, [](Code code) {
    return code == 0x130 || code == 0x131 ? Code{'i'}
           : code == 0x17F                ? Code{'s'}
           : code == 0x212A               ? Code{'k'}
                                          : ascii_lower(code);
  });
  return without(folded, [](Code code) { return code < 0x20 || code >= 0x7F; });
}

std::string_view in_quotes(std::string_view string) { return string.substr(1, string.size() - 2); }

/// The value that this parser has for a member; empty: none.
std::string_view read(const Reader& reader, std::string_view object, std::string_view member) {
  const Name wanted = reader.see(Name(member.begin(), member.end()));
  std::string_view found;
  bridge::each_member(object, [&](std::string_view raw, std::string_view value) {
    if (reader.see(decoded(raw)) == wanted) found = value;
    return true;
  });
  return found;
}

void check(const Reader& reader, std::string_view object, std::string_view member,
           std::string_view ours) {
  const std::string_view theirs = read(reader, object, member);
  if (theirs == ours) return;
  std::fprintf(stderr, "%s reads another %.*s\n", reader.name, static_cast<int>(member.size()),
               member.data());
  MUST(theirs == ours);
}

/// The method's own members, as the protocol has them: name, and how it is bound.
std::vector<std::string_view> members_of(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return {"name", "arguments"};
  if (method == "resources/read" || method == "resources/subscribe" ||
      method == "resources/unsubscribe" || method == "notifications/resources/updated")
    return {"uri"};
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel")
    return {"taskId"};
  if (method == "completion/complete") return {"ref"};
  if (method == "subscriptions/listen") return {"notifications"};
  if (method == "logging/setLevel") return {"level"};
  return {};
}

void check_params(const Reader& reader, const Frame& frame) {
  const std::string_view params = frame.text(frame.params);
  if (!bridge::is_object(params)) return;
  check(reader, params, "_meta", frame.text(frame.meta));
  const std::string_view meta = frame.text(frame.meta);
  if (bridge::is_object(meta)) {
    for (const std::string_view member :
         {bridge::meta_key::progress_token, bridge::meta_key::protocol_version,
          bridge::meta_key::client_capabilities, bridge::meta_key::client_info,
          bridge::meta_key::log_level, bridge::meta_key::subscription_id})
      check(reader, meta, member, read(readers.front(), meta, member));
  }
  // The exact reader takes the last one; where the bridge takes the first, it must be the only one.
  for (const std::string_view member : members_of(frame.method))
    check(reader, params, member, read(readers.front(), params, member));
  for (const std::string_view member : {"requestState", "inputResponses"})
    check(reader, params, member, read(readers.front(), params, member));
  if (frame.method == "tools/call") check(reader, params, "name", frame.text(frame.name));
  if (frame.method == "notifications/progress") {
    const std::string_view token = frame.text(frame.progress_token);
    if (!token.empty()) check(reader, params, "progressToken", token);
  }
  if (frame.method == "notifications/cancelled") {
    const std::string_view id = frame.text(frame.request_id);
    if (!id.empty()) check(reader, params, "requestId", id);
  }
}

void check_frame(const Frame& frame) {
  for (const Reader& reader : readers) {
    check(reader, frame.bytes, "id", frame.text(frame.id));
    check(reader, frame.bytes, "params", frame.text(frame.params));
    check(reader, frame.bytes, "result", frame.text(frame.result));
    check(reader, frame.bytes, "error", frame.text(frame.error));
    const std::string_view method = read(reader, frame.bytes, "method");
    MUST(method.empty() == frame.is_response());
    if (frame.is_response()) {
      const std::string_view result = frame.text(frame.result);
      if (bridge::is_object(result))
        check(reader, result, "resultType", frame.text(frame.result_type));
      continue;
    }
    // What a parser drops from names it drops from texts; in case the method may differ.
    const std::string judged = bridge::quote(frame.method);
    MUST(loosest(reader.see(decoded(in_quotes(method)))) == loosest(decoded(in_quotes(judged))));
    check_params(reader, frame);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_frame(text);
  if (const Frame* frame = std::get_if<Frame>(&parsed)) check_frame(*frame);
  return 0;
}
