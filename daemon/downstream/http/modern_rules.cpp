#include "downstream/http/modern_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "jsonrpc/error_codes.hpp"
#include "jsonrpc/reply.hpp"
#include "mcp/era.hpp"
#include "mcp/handshake.hpp"
#include "mcp/mirrored_headers.hpp"
#include "mcp/request_meta.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::string_view version_header = "mcp-protocol-version";
/// Of a revision that nobody knows so many bytes are said back.
constexpr std::size_t longest_version = 64;

HttpResponse refuse(std::string_view raw_id, int code, std::string_view message) {
  return json_response(400, error_reply(raw_id, code, message));
}

HttpResponse refuse_version(std::string_view raw_id, std::string_view version, Era era) {
  return json_response(
      400, fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", raw_id,
                       unsupported_version_error(quote(printable(version, longest_version)), era)));
}

std::string id_of(const PostedMessages& posted) {
  return posted.is_batch || posted.request_ids.empty() ? "null" : posted.request_ids.front();
}

std::vector<HeaderField> fields_of(const RequestHead& head) {
  std::vector<HeaderField> fields;
  fields.reserve(head.headers.size());
  for (const HttpHeader& header : head.headers) fields.push_back({header.name, header.value});
  return fields;
}

std::optional<HttpResponse> request_fault(const RequestHead& head, const Frame& request,
                                          const HeadersOfTools& known) {
  const std::string_view id = request.text(request.id);
  const std::string version =
      find_string(request.text(request.meta), meta_key::protocol_version).value_or(std::string());
  const bool says_version = request.protocol_version.present();
  if (says_version && version != newest_version && head.header(version_header) == version)
    return refuse_version(id, version, Era::modern);
  const char* const missing = missing_request_meta(request);
  if (!says_version) return refuse(id, json_rpc::invalid_params, missing);
  if (const auto mismatch = check_mirrored(fields_of(head), request, known))
    return refuse(id, mcp_error::header_mismatch, *mismatch);
  if (missing != nullptr) return refuse(id, json_rpc::invalid_params, missing);
  return std::nullopt;
}

}  // namespace

bool names_known_version(const RequestHead& head) {
  const std::string version = head.header(version_header);
  return version.empty() || version == newest_version || is_known_legacy_version(version);
}

HttpResponse unknown_version(const RequestHead& head, const PostedMessages& posted) {
  return refuse_version(id_of(posted), head.header(version_header), Era::legacy);
}

bool names_modern_version(const RequestHead& head) {
  return head.header(version_header) == newest_version;
}

bool is_modern(const RequestHead& head, const PostedMessages& posted) {
  const bool says_so = std::any_of(posted.messages.begin(), posted.messages.end(),
                                   [](const Frame& message) { return message.is_modern(); });
  return says_so || (names_modern_version(head) && !posted.initializes);
}

std::optional<HttpResponse> modern_fault(const RequestHead& head, const PostedMessages& posted,
                                         const HeadersOfTools& known) {
  if (posted.is_batch)
    return refuse("null", json_rpc::invalid_request,
                  "Invalid Request: MCP 2026-07-28 has no arrays of messages");
  const Frame& message = posted.messages.front();
  if (message.is_response())
    return refuse("null", json_rpc::invalid_request,
                  "Invalid Request: a client of MCP 2026-07-28 sends no responses");
  return message.is_request() ? request_fault(head, message, known) : std::nullopt;
}

int status_of_answer(std::string_view response) {
  const auto error = find_member(response, "error");
  if (!error) return 200;
  const std::string_view code = find_member(*error, "code").value_or("");
  const auto is = [code](int number) { return code == std::to_string(number); };
  if (is(json_rpc::method_not_found)) return 404;
  const bool is_defined = is(mcp_error::header_mismatch) ||
                          is(mcp_error::missing_client_capability) ||
                          is(mcp_error::unsupported_version);
  return is_defined ? 400 : 200;
}

}  // namespace bridge
