#include "upstream/large_results.hpp"

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
  return R"({"content":[{"type":"image","mimeType":"image/png","data":")" +
         repeated("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9",
                  size) +
         R"("}]})";
}

std::string escapes(std::size_t size) {
  return R"({"content":[{"type":"text","text":")" +
         repeated(
             "  if (name == \\\"value\\\") {\\n    return 'caf\xc3\xa9' + \\\"\\t\\u00e9 of a "
             "file\\\";\\n  }\\n",
             size) +
         R"("}]})";
}

std::string values(std::size_t size) {
  constexpr std::string_view row =
      R"({"id":1042,"name":"row","at":[51.5074,-0.1278],"tags":["a","b"],"open":true,"note":null},)";
  std::string rows = repeated(row, size);
  rows.pop_back();
  return R"({"content":[],"structuredContent":{"rows":[)" + rows + "]}}";
}

std::string deep_arrays(std::size_t size) {
  constexpr std::size_t depth = 40;
  const std::string deep = std::string(depth, '[') + "1" + std::string(depth, ']') + ",";
  std::string rows = repeated(deep, size);
  rows.pop_back();
  return R"({"content":[],"structuredContent":{"rows":[)" + rows + "]}}";
}

std::string made(std::string_view tool, std::size_t size) {
  if (tool == "base64") return base64(size);
  if (tool == "escapes") return escapes(size);
  if (tool == "values") return values(size);
  if (tool == "arrays") return deep_arrays(size);
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

}  // namespace bench
