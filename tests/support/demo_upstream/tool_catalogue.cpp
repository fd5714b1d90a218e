#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "json_text.hpp"
#include "tools.hpp"

namespace demo {
namespace {

constexpr std::array<std::string_view, 11> kTools{
    R"({"name":"echo","description":"Answers the message","inputSchema":{"type":"object","properties":{"message":{"type":"string","description":"what to answer"}},"required":["message"]}})",
    R"({"name":"mirror","description":"Answers its arguments, byte for byte","inputSchema":{"type":"object"}})",
    R"({"name":"add","description":"Adds two numbers","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}})",
    R"({"name":"slow","description":"Takes its time and reports progress","inputSchema":{"type":"object","properties":{"steps":{"type":"integer","default":5},"delayMs":{"type":"integer","default":200}}}})",
    R"({"name":"ticker","description":"Makes the session emit notifications for a while","inputSchema":{"type":"object","properties":{"seconds":{"type":"number","default":10},"intervalMs":{"type":"integer","default":1000}}}})",
    R"({"name":"burst","description":"Emits notifications at once","inputSchema":{"type":"object","properties":{"count":{"type":"integer","default":100}}}})",
    R"({"name":"ask","description":"Asks the user for input","inputSchema":{"type":"object","properties":{"question":{"type":"string","default":"What is your name?"}}}})",
    R"({"name":"sample","description":"Asks the client's model","inputSchema":{"type":"object","properties":{"prompt":{"type":"string","default":"Say hello"}}}})",
    R"({"name":"roots","description":"Asks the client for its roots","inputSchema":{"type":"object"}})",
    R"({"name":"big","description":"Answers a text of that size","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer","default":65536}}}})",
    R"({"name":"fail","description":"Answers an error","inputSchema":{"type":"object","properties":{"message":{"type":"string","default":"it failed"}}}})",
};

}  // namespace

std::string tools_page(std::string_view cursor, int page_size) {
  const auto first = std::clamp<std::int64_t>(json::integer(json::inside(cursor), 0), 0,
                                              static_cast<std::int64_t>(kTools.size()));
  const auto begin = static_cast<std::size_t>(first);
  const auto end = page_size == 0
                       ? kTools.size()
                       : std::min(kTools.size(), begin + static_cast<std::size_t>(page_size));
  std::string list;
  for (auto at = begin; at < end; ++at) {
    if (at > begin) list += ',';
    list += kTools[at];
  }
  if (end == kTools.size()) return fmt::format(R"({{"tools":[{}]}})", list);
  return fmt::format(R"({{"tools":[{}],"nextCursor":"{}"}})", list, end);
}

}  // namespace demo
