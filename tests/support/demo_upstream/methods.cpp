#include "methods.hpp"

#include <fmt/format.h>

#include "json_text.hpp"
#include "protocol_versions.hpp"
#include "tools.hpp"

namespace demo {
namespace {

constexpr std::string_view kResources =
    R"({"resources":[{"uri":"demo://readme","name":"readme","mimeType":"text/plain"},)"
    R"({"uri":"demo://pixel","name":"pixel","mimeType":"image/png"},)"
    R"({"uri":"demo://ticker","name":"ticker","mimeType":"text/plain"}]})";

constexpr std::string_view kPrompts =
    R"({"prompts":[{"name":"greet","description":"Greets somebody","arguments":)"
    R"([{"name":"name","description":"whom","required":true}]}]})";

/// A transparent image of one pixel.
constexpr std::string_view kPixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
    "rkJggg==";

Reply contents(std::string_view uri, std::string_view type, std::string_view rest) {
  return Reply::result(
      fmt::format(R"({{"contents":[{{"uri":"{}","mimeType":"{}",{}}}]}})", uri, type, rest));
}

Reply read_resource(const Message& request, const Session& session) {
  const auto uri = json::inside(json::member(request.params, "uri"));
  if (uri == "demo://readme") {
    return contents(uri, "text/plain", R"("text":"A server to try things on.\nIt has tools.")");
  }
  if (uri == "demo://pixel")
    return contents(uri, "image/png", fmt::format(R"("blob":"{}")", kPixel));
  if (uri == "demo://ticker") {
    return contents(uri, "text/plain", fmt::format(R"("text":"{}")", session.ticks()));
  }
  return Reply::error(-32002, fmt::format("Resource not found: {}", uri));
}

Reply get_prompt(const Message& request) {
  if (json::inside(json::member(request.params, "name")) != "greet") {
    return Reply::error(-32602, "Unknown prompt");
  }
  const auto name = json::path(request.params, {"arguments", "name"});
  if (name.empty()) return Reply::error(-32602, "Invalid arguments: name is required");
  const auto text = json::quoted("Please greet " + json::text(name) + ".");
  return Reply::result(fmt::format(
      R"({{"description":"Greets somebody","messages":[{{"role":"user","content":{{"type":"text","text":{}}}}}]}})",
      text));
}

Reply complete(const Message& request) {
  const auto begun = json::inside(json::path(request.params, {"argument", "value"}));
  std::string values;
  int count = 0;
  for (const std::string_view name : {"Ada", "Alan", "Grace"}) {
    if (!name.starts_with(begun)) continue;
    values += fmt::format("{}\"{}\"", values.empty() ? "" : ",", name);
    ++count;
  }
  return Reply::result(fmt::format(
      R"({{"completion":{{"values":[{}],"total":{},"hasMore":false}}}})", values, count));
}

}  // namespace

Reply answer_request(const Message& request, const std::shared_ptr<Session>& session,
                     Upstream& upstream) {
  const auto method = request.method;
  if (method == "tools/call") return run_short_tool(request, session, upstream.pool);
  if (method == "tools/list") {
    return Reply::result(
        tools_page(json::member(request.params, "cursor"), upstream.options.page_size));
  }
  if (method == "ping" || method == "logging/setLevel" || method == "resources/subscribe" ||
      method == "resources/unsubscribe") {
    return Reply::result("{}");
  }
  if (method == "resources/list") return Reply::result(std::string(kResources));
  if (method == "resources/templates/list") return Reply::result(R"({"resourceTemplates":[]})");
  if (method == "resources/read") return read_resource(request, *session);
  if (method == "prompts/list") return Reply::result(std::string(kPrompts));
  if (method == "prompts/get") return get_prompt(request);
  if (method == "completion/complete") return complete(request);
  return Reply::error(-32601, "Method not found");
}

std::string initialize_result(const Message& request) {
  const auto asked = json::inside(json::member(request.params, "protocolVersion"));
  return fmt::format(
      R"({{"protocolVersion":"{}","capabilities":{{"tools":{{"listChanged":true}},)"
      R"("resources":{{"subscribe":true,"listChanged":true}},"prompts":{{"listChanged":true}},)"
      R"("logging":{{}},"completions":{{}}}},)"
      R"("serverInfo":{{"name":"demo-upstream","version":"{}"}},)"
      R"("instructions":"A server to try things on."}})",
      negotiated(asked), MCP_BRIDGE_VERSION);
}

}  // namespace demo
