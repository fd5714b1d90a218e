#include "mcp/input_required.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "mcp/methods.hpp"

namespace bridge {
namespace {

bool is_answer_member(std::string_view key) {
  return key_is(key, "inputResponses") || key_is(key, "requestState");
}

/// The two members of an object that a round is made of, and whether one of them is there twice.
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
    if (found == nullptr) return;
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

/// Reads a map of at most max_input_requests distinct keys; why not, or null.
template <class Entry, class Read>
const char* read_map(std::string_view map, std::vector<Entry>& entries, Read&& read) {
  const char* reason = nullptr;
  each_member(map, [&](std::string_view key, std::string_view value) {
    Entry entry;
    entry.key = quoted(key);
    if (entries.size() == max_input_requests) reason = "more than 64 entries in it";
    if (reason == nullptr && has_key(entries, entry.key)) reason = "a key stands twice in it";
    if (reason == nullptr) reason = read(value, entry);
    if (reason != nullptr) return false;
    entries.push_back(std::move(entry));
    return true;
  });
  return reason;
}

const char* read_question(std::string_view value, InputRequest& request) {
  request.method = find_string(value, "method").value_or("");
  if (!is_question(request.method)) return "a request in it is none that a server may make";
  const std::string_view params = find_member(value, "params").value_or("");
  if (!params.empty() && !is_object(params)) return "the params of a request are no object";
  request.params = params;
  return nullptr;
}

}  // namespace

std::variant<InputRequired, std::string_view> read_input_required(std::string_view result) {
  const Round round = find_round(result, whole_value(result), "inputRequests");
  if (round.twice) return "inputRequests or requestState stands twice in the result";
  InputRequired required;
  if (round.state.present()) {
    required.request_state = round.state.of(result);
    if (!is_string(required.request_state)) return "its requestState is no string";
  }
  if (round.map.present()) {
    const std::string_view map = round.map.of(result);
    if (!is_object(map)) return "its inputRequests is no object";
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
  if (round.twice) return "Invalid params: inputResponses or requestState stands twice";
  InputAnswers answers;
  if (round.state.present()) {
    const std::string_view raw = request.text(round.state);
    if (!is_string(raw)) return "Invalid params: requestState is no string";
    answers.request_state = unescape(raw.substr(1, raw.size() - 2));
    answers.has_state = true;
  }
  if (!round.map.present()) return answers;
  const std::string_view map = request.text(round.map);
  if (!is_object(map)) return "Invalid params: inputResponses is no object";
  const auto take = [](std::string_view value, InputResponse& response) -> const char* {
    if (!is_object(value)) return "a response in it is no object";
    response.result = value;
    return nullptr;
  };
  if (read_map(map, answers.responses, take) != nullptr) {
    return "Invalid params: inputResponses is no map of at most 64 results, each under a key of its "
           "own";
  }
  return answers;
}

std::string without_input_answers(const Frame& request) {
  Edits edits;
  edit_members(edits, request.bytes, request.params, is_answer_member);
  return edits.made_in(request.bytes);
}

}  // namespace bridge
