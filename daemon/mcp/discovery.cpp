#include "mcp/discovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>

#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "mcp/handshake.hpp"
#include "mcp/request_meta.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";
constexpr std::size_t most_shown = 8;  ///< revisions in a message

/// What a list of revisions has in common with those that the bridge supports.
struct Common {
  bool is_list = false;
  bool modern = false;
  bool legacy = false;
  std::string shown;  ///< the first few, for a message; only what fits a header is repeated
};

Common in_common(std::string_view list) {
  Common common;
  if (list.empty() || list.front() != '[') return common;
  common.is_list = true;
  std::size_t shown = 0;
  each_element(list, [&](std::string_view raw) {
    if (!is_string(raw) || raw.size() > 6 * header_limit::protocol_version) return true;
    const std::string version = *to_text(raw);
    common.modern = common.modern || version == newest_version;
    common.legacy = common.legacy || is_known_legacy_version(version);
    if (fits_header(version, header_limit::protocol_version) && ++shown <= most_shown) {
      common.shown += (shown > 1 ? ", " : "") + version;
    }
    return true;
  });
  return common;
}

Judgement judge_versions(const Common& common) {
  if (common.modern) return {ProbeVerdict::modern, std::string(newest_version)};
  if (common.legacy) return {ProbeVerdict::legacy};
  return {ProbeVerdict::refused,
          fmt::format("the server speaks {}; this bridge speaks 2024-11-05 to {} and {}",
                      common.shown.empty() ? "no revision of MCP that it names" : common.shown,
                      newest_legacy_version, newest_version)};
}

bool decides_nothing(int status) {
  static constexpr std::array<int, 5> statuses = {401, 403, 407, 429, 503};
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

bool is_modern_error(std::string_view code) {
  return code == "-32020" || code == "-32021" || code == "-32022";
}

Judgement judge_status(int status) {
  const bool says_something =
      status == 0 || (status >= 200 && status < 300) || (status >= 400 && status < 500);
  return {says_something ? ProbeVerdict::legacy : ProbeVerdict::legacy_for_this_session};
}

Judgement judge_response(int status, const Frame& response) {
  if (response.error.present()) {
    const std::string_view error = response.text(response.error);
    const std::string_view code = find_member(error, "code").value_or("");
    if (code == "-32022") {
      const std::string_view data = find_member(error, "data").value_or("");
      return judge_versions(in_common(find_member(data, "supported").value_or("")));
    }
    if (is_modern_error(code)) return {ProbeVerdict::modern, std::string(newest_version)};
    return judge_status(status);
  }
  const Common common =
      in_common(find_member(response.text(response.result), "supportedVersions").value_or(""));
  return common.is_list ? judge_versions(common) : judge_status(status);
}

bool names_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [text](std::string_view word) { return text.find(word) != text.npos; });
}

/// A member that is an object; `{}` for any other.
std::string_view object_in(std::string_view object, std::string_view name) {
  const auto member = find_member(object, name);
  return member && is_object(*member) ? *member : "{}";
}

std::string without_member(std::string_view object, std::string_view name) {
  Edits edits;
  edit_members(edits, object, {0, object.size()},
               [name](std::string_view key) { return key_is(key, name); });
  return edits.made_in(object);
}

/// Capabilities without one extension; an `extensions` that is then empty is removed.
std::string without_extension(std::string_view capabilities, std::string_view name) {
  const auto extensions = find_member(capabilities, "extensions");
  if (!extensions || !find_member(*extensions, name)) return std::string(capabilities);
  const std::string others = without_member(*extensions, name);
  if (others.find('"') == others.npos) {
    return without_member(capabilities, "extensions");
  }
  const auto begin = static_cast<std::size_t>(extensions->data() - capabilities.data());
  Edits edits;
  edits.replace({begin, begin + extensions->size()}, others);
  return edits.made_in(capabilities);
}

std::string server_info_or_target(std::optional<std::string_view> info, std::string_view target) {
  if (info && is_object(*info)) return std::string(*info);
  return JsonObject().add("name", target).add("version", "unknown").text();
}

/// The `instructions` of a result if they are a string.
RawJson instructions_of(std::string_view result) {
  const auto instructions = find_member(result, "instructions");
  return {instructions && is_string(*instructions) ? *instructions : std::string_view()};
}

}  // namespace

std::string discover_request(UpstreamId id, const RequestIdentity& identity) {
  Frame request;
  request.bytes = own_request(id, "server/discover", {});
  request.kind = FrameKind::request;
  return with_request_meta(std::move(request), identity).bytes;
}

Judgement judge_probe(const ProbeAnswer& answer) {
  if (decides_nothing(answer.status)) return {ProbeVerdict::undecided};
  if (answer.response != nullptr) return judge_response(answer.status, *answer.response);
  switch (answer.failure) {
    case ProbeFailure::none: return judge_status(answer.status);
    case ProbeFailure::not_delivered: return {ProbeVerdict::undecided};
    case ProbeFailure::connection_closed:
      return {answer.closed_connections < 2 ? ProbeVerdict::undecided
                                            : ProbeVerdict::legacy_for_this_session};
    case ProbeFailure::no_answer:
    case ProbeFailure::child_ended: return {ProbeVerdict::legacy_for_this_session};
  }
  return {ProbeVerdict::legacy};
}

bool is_refused_as_modern(int status, const Frame* response) {
  if (decides_nothing(status)) return false;
  if (response != nullptr && response->error.present()) {
    const std::string_view error = response->text(response->error);
    if (find_member(error, "code") == "-32022") {
      const std::string_view data = find_member(error, "data").value_or("");
      return !in_common(find_member(data, "supported").value_or("")).legacy;
    }
    if (speaks_only_newer(error) || contradicts(Era::legacy, 0, response)) return true;
  }
  return status == 400 || status == 404 || status == 405;
}

bool contradicts(Era assumed, int status, const Frame* response) {
  if (status != 0 && status != 400 && status != 404) return false;
  if (response == nullptr || !response->error.present()) {
    return assumed == Era::modern && status != 0 && response == nullptr;
  }
  const std::string_view error = response->text(response->error);
  const std::string_view code = find_member(error, "code").value_or("");
  if (assumed == Era::legacy) {
    return is_modern_error(code) ||
           (code == "-32602" && names_any(error, {"_meta", "io.modelcontextprotocol/"}));
  }
  const bool is_implementations_own =
      code == "-32600" || (code.size() == 6 && code >= "-32000" && code <= "-32019");
  return is_implementations_own && names_any(error, {"session", "Session", "initiali", "Initiali",
                                                     "rotocol version", "rotocol-Version"});
}

std::string initialize_result_of(std::string_view discover_result, std::string_view asked,
                                 std::string_view target) {
  const std::string_view meta = object_in(discover_result, "_meta");
  return JsonObject()
      .add("protocolVersion", is_known_legacy_version(asked) ? asked : newest_legacy_version)
      .add("capabilities",
           RawJson{without_extension(object_in(discover_result, "capabilities"), tasks_extension)})
      .add("serverInfo",
           RawJson{server_info_or_target(find_member(meta, meta_key::server_info), target)})
      .add_unless_empty("instructions", instructions_of(discover_result))
      .text();
}

std::string discover_result_of(std::string_view initialize_result, std::string_view target) {
  const std::string server_info =
      server_info_or_target(find_member(initialize_result, "serverInfo"), target);
  return JsonObject()
      .add("resultType", "complete")
      .add("supportedVersions", JsonArray().add(newest_version))
      .add("capabilities",
           RawJson{without_member(object_in(initialize_result, "capabilities"), "tasks")})
      .add("_meta", JsonObject().add(meta_key::server_info, RawJson{server_info}))
      .add_unless_empty("instructions", instructions_of(initialize_result))
      .add("ttlMs", 0)
      .add("cacheScope", "private")
      .text();
}

}  // namespace bridge
