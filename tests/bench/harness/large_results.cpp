#include "harness/large_results.hpp"

#include <charconv>
#include <map>
#include <utility>

namespace bench {
namespace {

std::string repeated(std::string_view part, std::size_t size) {
  std::string text;
  text.reserve(size + part.size());
  while (text.size() < size) text.append(part);
  return text;
}

std::string base64(std::size_t size) {
  return repeated("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9",
                  size);
}

std::string escapes(std::size_t size) {
  return repeated(
      "  if (name == \\\"value\\\") {\\n    return 'caf\xc3\xa9' + \\\"\\t\\u00e9 of a "
      "file\\\";\\n  }\\n",
      size);
}

std::string values(std::size_t size) {
  constexpr std::string_view row =
      R"({"id":1042,"name":"row","at":[51.5074,-0.1278],"tags":["a","b"],"open":true,"note":null},)";
  std::string rows = repeated(row, size);
  rows.pop_back();
  return rows;
}

std::string made(std::string_view tool, std::size_t size) {
  if (tool == "base64")
    return R"({"content":[{"type":"image","mimeType":"image/png","data":")" + base64(size) +
           R"("}]})";
  if (tool == "escapes")
    return R"({"content":[{"type":"text","text":")" + escapes(size) + R"("}]})";
  if (tool == "values")
    return R"({"content":[],"structuredContent":{"rows":[)" + values(size) + "]}}";
  return {};
}

}  // namespace

std::string_view large_result(std::string_view tool, std::size_t size) {
  static std::map<std::pair<std::string, std::size_t>, std::string> results;
  const auto [found, is_new] = results.try_emplace({std::string(tool), size});
  if (is_new) found->second = made(tool, size);
  if (is_new && !found->second.empty()) found->second += '}';
  return found->second;
}

std::string_view text_after(std::string_view message, std::string_view before,
                            std::string_view ends) {
  const std::size_t at = message.find(before);
  if (at == message.npos) return {};
  const std::string_view rest = message.substr(at + before.size());
  return rest.substr(0, rest.find_first_of(ends));
}

std::string_view large_result_for(std::string_view message) {
  const std::string_view size = text_after(message, "\"size\":", "},");
  if (size.empty()) return {};
  std::size_t bytes = 0;
  std::from_chars(size.data(), size.data() + size.size(), bytes);
  return large_result(text_after(message, "\"name\":\"", "\""), bytes);
}

std::string large_call(std::string_view kind, std::size_t size) {
  const std::string begin =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{)";
  if (kind == "values") return begin + R"("rows":[)" + values(size) + "]}}}";
  return begin + R"("message":")" + (kind == "base64" ? base64(size) : escapes(size)) + R"("}}})";
}

}  // namespace bench
