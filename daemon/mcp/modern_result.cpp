#include "mcp/modern_result.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"

namespace bridge {
namespace {

constexpr int internal_error = -32603;

Frame with_result_members(Frame response, std::string_view method) {
  std::string members;
  Edits edits;
  if (!response.result_type.present()) {
    members = R"("resultType":"complete")";
  } else if (!is_string(response.text(response.result_type))) {
    edits.replace(response.result_type, R"("complete")");
  }
  if (is_cacheable(method)) {
    bool has_ttl = false;
    bool has_scope = false;
    for_each_member(response.bytes, response.result, [&](std::string_view key, Slice, Slice) {
      has_ttl = has_ttl || key_is(key, "ttlMs");
      has_scope = has_scope || key_is(key, "cacheScope");
    });
    const auto add = [&members](std::string_view member) {
      if (!members.empty()) members += ',';
      members += member;
    };
    if (!has_ttl) add(R"("ttlMs":0)");
    if (!has_scope) add(R"("cacheScope":"private")");
  }
  if (!members.empty()) add_members(edits, response.bytes, response.result, members);
  return edited(std::move(response), edits);
}

/// The `inputRequests` of an error -32042; empty if it has no elicitations that could be asked.
JsonObject url_questions(std::string_view error) {
  const auto data = find_member(error, "data");
  const auto elicitations = data ? find_member(*data, "elicitations") : std::nullopt;
  if (!elicitations) return {};
  JsonObject questions;
  std::size_t count = 0;
  const bool walked = each_element(*elicitations, [&](std::string_view params) {
    if (++count > max_input_requests) return false;
    if (!find_string(params, "url")) return false;
    Edits edits;
    if (!find_member(params, "mode")) {
      add_members(edits, params, {0, params.size()}, R"("mode":"url")");
    }
    questions.add(fmt::format("url-{}", count), JsonObject()
                                                    .add("method", "elicitation/create")
                                                    .add("params", RawJson{edits.made_in(params)}));
    return true;
  });
  return walked ? questions : JsonObject();
}

Frame with_error_code(Frame response, Slice code, int other) {
  Edits edits;
  edits.replace(code, std::to_string(other));
  return edited(std::move(response), edits);
}

/// What is made of it may nest too deeply: then it stays as it is.
Frame read_anew(std::string bytes, Frame otherwise) {
  auto parsed = parse_frame(std::move(bytes));
  auto* const frame = std::get_if<Frame>(&parsed);
  return frame != nullptr ? std::move(*frame) : std::move(otherwise);
}

Frame for_url_elicitation(Frame response, std::string_view method, Slice code,
                          bool client_answers_urls) {
  const std::string_view id = response.text(response.id);
  if (!client_answers_urls) {
    return read_anew(
        error_reply(id, mcp_error::missing_client_capability,
                    "The server asks for a visit to a web page; this needs a client that declares "
                    "the capability elicitation.url",
                    R"({"requiredCapabilities":{"elicitation":{"url":{}}}})"),
        std::move(response));
  }
  const JsonObject questions = may_require_input(method) && !response.id_is_null
                                   ? url_questions(response.text(response.error))
                                   : JsonObject();
  if (questions.is_empty()) return with_error_code(std::move(response), code, internal_error);
  std::string asking = result_reply(
      id, JsonObject().add("resultType", "input_required").add("inputRequests", questions));
  return read_anew(std::move(asking), std::move(response));
}

}  // namespace

bool is_input_required(const Frame& response) {
  return response.result_type.present() &&
         same_id(response.text(response.result_type), "\"input_required\"");
}

bool is_complete(const Frame& response) {
  return !response.result_type.present() ||
         same_id(response.text(response.result_type), "\"complete\"");
}

bool has_failed(const Frame& response) {
  return response.error.present() ||
         find_member(response.text(response.result), "isError") == "true";
}

Frame missing_capability(const Frame& response, std::string_view capabilities, bool keeps_answer) {
  JsonObject data;
  data.add("requiredCapabilities", RawJson{capabilities});
  if (keeps_answer) {
    data.add_unless_empty("error", RawJson{response.text(response.error)});
    if (!response.error.present()) data.add("result", RawJson{response.text(response.result)});
  }
  return read_anew(error_reply(response.text(response.id), mcp_error::missing_client_capability,
                               "The server asks for something that this request's "
                               "clientCapabilities do not declare",
                               data.text()),
                   response);
}

Frame for_modern_client(Frame response, std::string_view method, bool client_answers_urls) {
  if (is_object(response.text(response.result))) {
    const bool says_type = is_string(response.text(response.result_type));
    if (says_type && !is_cacheable(method)) return response;
    return with_result_members(std::move(response), method);
  }
  if (!response.error.present()) return response;
  Slice code;
  for_each_member(response.bytes, response.error, [&](std::string_view key, Slice, Slice value) {
    if (key_is(key, "code")) code = value;
  });
  const std::string_view number = response.text(code);
  if (number == "-32002")
    return with_error_code(std::move(response), code, json_rpc::invalid_params);
  if (number != "-32042") return response;
  return for_url_elicitation(std::move(response), method, code, client_answers_urls);
}

}  // namespace bridge
