#include "mcp/input_required.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/member_names.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"

namespace bridge {
namespace {

bool is_answer_member(std::string_view key) {
  return key_is(key, "inputResponses") || key_is(key, "requestState");
}

/// The two members of an object that a round consists of, and whether one of them is repeated, or
/// so for another parser.
struct Round {
  Slice map;  ///< inputRequests or inputResponses
  Slice state;
  bool twice = false;
};

Round find_round(std::string_view text, Slice object, std::string_view map_name) {
  Round round;
  for_each_member(text, object, [&](std::string_view key, Slice, Slice value) {
    Slice* const found = key_is(key, map_name)         ? &round.map
                         : key_is(key, "requestState") ? &round.state
                                                       : nullptr;
    if (found == nullptr) {
      round.twice =
          round.twice || is_similar_name(key, map_name) || is_similar_name(key, "requestState");
      return;
    }
    round.twice = round.twice || found->present();
    *found = value;
  });
  return round;
}

/// The raw key as JSON.
std::string quoted(std::string_view raw_key) { return fmt::format("\"{}\"", raw_key); }

template <class Entry>
bool has_key(const std::vector<Entry>& entries, std::string_view key) {
  return std::any_of(entries.begin(), entries.end(),
                     [key](const Entry& entry) { return same_id(entry.key, key); });
}

/// Reads a map of at most max_input_requests distinct keys; returns the error, or null.
template <class Entry, class Read>
const char* read_map(std::string_view map, std::vector<Entry>& entries, Read&& read) {
  const char* reason = nullptr;
  each_member(map, [&](std::string_view key, std::string_view value) {
    Entry entry;
    entry.key = quoted(key);
    if (entries.size() == max_input_requests) reason = "more than 64 entries in it";
    if (reason == nullptr && has_key(entries, entry.key)) reason = "duplicate key in it";
    if (reason == nullptr) reason = read(value, entry);
    if (reason != nullptr) return false;
    entries.push_back(std::move(entry));
    return true;
  });
  return reason;
}

const char* read_question(std::string_view value, InputRequest& request) {
  request.method = find_string(value, "method").value_or("");
  if (!is_question(request.method)) return "a request in it is not one that a server may make";
  const std::string_view params = find_member(value, "params").value_or("");
  if (!params.empty() && !is_object(params)) return "the params of a request are not an object";
  request.params = params;
  return nullptr;
}

}  // namespace

std::variant<InputRequired, std::string_view> read_input_required(std::string_view result) {
  const Round round = find_round(result, whole_value(result), "inputRequests");
  if (round.twice) return "duplicate inputRequests or requestState in the result";
  InputRequired required;
  if (round.state.present()) {
    required.request_state = round.state.of(result);
    if (!is_string(required.request_state)) return "its requestState is not a string";
  }
  if (round.map.present()) {
    const std::string_view map = round.map.of(result);
    if (!is_object(map)) return "its inputRequests is not an object";
    if (const char* reason = read_map(map, required.requests, read_question)) return reason;
  }
  if (!round.map.present() && !round.state.present()) {
    return "it has neither inputRequests nor requestState";
  }
  return required;
}

std::string input_request_line(const InputRequest& request, std::string_view raw_id) {
  return json_rpc_message()
      .add("id", RawJson{raw_id})
      .add("method", request.method)
      .add_unless_empty("params", RawJson{request.params})
      .text();
}

std::string retry_request(const Frame& original, std::string_view raw_id,
                          const std::vector<InputResponse>& responses,
                          std::string_view raw_request_state) {
  JsonObject answers;
  for (const InputResponse& response : responses)
    answers.add(RawJson{response.key}, RawJson{response.result});
  JsonObject added;
  if (!answers.is_empty()) added.add("inputResponses", answers);
  added.add_unless_empty("requestState", RawJson{raw_request_state});
  Edits edits;
  edits.replace(original.id, std::string(raw_id));
  if (is_object(original.text(original.params))) {
    edit_members(edits, original.bytes, original.params, is_answer_member, added.members());
  } else if (!original.params.present() && !added.is_empty()) {
    add_members(edits, original.bytes, whole_value(original.bytes),
                JsonObject().add("params", added).members());
  }
  return edits.made_in(original.bytes);
}

std::string input_required_result(const std::vector<InputRequest>& requests,
                                  std::string_view request_state) {
  JsonObject questions;
  for (const InputRequest& request : requests) {
    const JsonObject question = JsonObject()
                                    .add("method", request.method)
                                    .add_unless_empty("params", RawJson{request.params});
    questions.add(RawJson{request.key}, RawJson{question.text()});
  }
  return JsonObject()
      .add("resultType", "input_required")
      .add("inputRequests", questions)
      .add("requestState", request_state)
      .text();
}

std::variant<InputAnswers, std::string_view> read_input_answers(const Frame& request) {
  const Round round = find_round(request.bytes, request.params, "inputResponses");
  if (round.twice) return "Invalid params: duplicate inputResponses or requestState";
  InputAnswers answers;
  if (round.state.present()) {
    const std::string_view raw = request.text(round.state);
    if (!is_string(raw)) return "Invalid params: requestState is not a string";
    answers.request_state = unescape(raw.substr(1, raw.size() - 2));
    answers.has_state = true;
  }
  if (!round.map.present()) return answers;
  const std::string_view map = request.text(round.map);
  if (!is_object(map)) return "Invalid params: inputResponses is not an object";
  const auto take = [](std::string_view value, InputResponse& response) -> const char* {
    if (!is_object(value)) return "a response in it is not an object";
    response.result = value;
    return nullptr;
  };
  if (read_map(map, answers.responses, take) != nullptr) {
    return "Invalid params: inputResponses is not an object of at most 64 results with distinct "
           "keys";
  }
  return answers;
}

std::string without_input_answers(const Frame& request) {
  Edits edits;
  edit_members(edits, request.bytes, request.params, is_answer_member);
  return edits.made_in(request.bytes);
}

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

/// The `inputRequests` from an error -32042; empty if it has no usable elicitations.
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

/// The edited message may nest too deeply: then the original is used.
Frame reparse(std::string bytes, Frame otherwise) {
  auto parsed = parse_frame(std::move(bytes));
  auto* const frame = std::get_if<Frame>(&parsed);
  return frame != nullptr ? std::move(*frame) : std::move(otherwise);
}

Frame for_url_elicitation(Frame response, std::string_view method, Slice code,
                          bool client_answers_urls) {
  const std::string_view id = response.text(response.id);
  if (!client_answers_urls) {
    return reparse(
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
  return reparse(std::move(asking), std::move(response));
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
  return reparse(error_reply(response.text(response.id), mcp_error::missing_client_capability,
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
