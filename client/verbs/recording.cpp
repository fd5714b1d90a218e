// Sends recorded requests again, and compares the responses.
#include "verbs/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/contains.hpp"
#include "base/secret_file.hpp"
#include "text/characters.hpp"
#include "text/visible_text.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

using json::Value;

/// `_meta` has the progress token and the client's description, which the next sender sets itself.
std::string without_meta(std::string_view params) {
  const auto members = json::members(params);
  if (!members) return std::string(params);
  json::JsonObject others;
  for (const json::RawMember& one : *members) {
    if (json::decode_string(one.key) != "_meta")
      others.add(json::RawJson{one.key}, json::RawJson{one.value});
  }
  return others.text();
}

bool is_same(const Value& left, const Value& right) {
  if (left.kind != right.kind || left.truth != right.truth || left.text != right.text ||
      left.items.size() != right.items.size())
    return false;
  for (std::size_t at = 0; at < left.items.size(); ++at) {
    if (!is_same(left.items[at], right.items[at])) return false;
  }
  const auto covers = [](const Value& one, const Value& other) {
    return std::all_of(one.members.begin(), one.members.end(), [&](const json::Member& member) {
      const Value* const its = other.find(member.name);
      return member.name == "_meta" || (its != nullptr && is_same(member.value, *its));
    });
  };
  return covers(left, right) && covers(right, left);
}

constexpr std::size_t longest_recording = 64 << 20;
constexpr std::size_t longest_shown = 300;

std::string start_of(std::string_view text) {
  return bridge::cut_off(json::on_one_line(text), longest_shown);
}

}  // namespace

Recording read_recording(std::string_view text) {
  Recording recording;
  std::map<std::string, std::size_t> open;  // by the client and its id
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool is_cut_off = line.size() == text.size() && number > 1;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string passage =
        json::is_json(line) ? json::string_member(line, "passage") : std::string();
    const bool is_wrong = passage.empty() && !line.empty() && !is_cut_off;
    if (is_wrong && recording.wrong_line == 0) recording.wrong_line = number;
    const auto raw = json::find_member(line, "message");
    if (passage == "from_client" && !raw) ++recording.left_out;  // too long to be shown whole
    if (!raw || (passage != "from_client" && passage != "to_client")) continue;
    const json::Message message = json::parse_message(*raw);
    const std::string key =
        fmt::format("{} {}", json::find_member(line, "client").value_or(""), message.id);
    if (passage == "from_client" && message.kind == json::Message::Kind::request) {
      if (is_for_the_bridge(message.method) ||
          bridge::has_word("initialize server/discover ping subscriptions/listen", message.method))
        continue;  // about the session itself
      open[key] = recording.requests.size();
      recording.requests.push_back(
          {std::string(message.method), without_meta(message.params), "", false});
    } else if (passage == "to_client" && message.kind == json::Message::Kind::response) {
      const auto found = open.find(key);
      if (found == open.end()) continue;
      RecordedRequest& request = recording.requests[found->second];
      request.has_failed = !message.error.empty();
      request.answer = request.has_failed ? message.error : message.result;
      open.erase(found);
    }
  }
  recording.left_out += std::erase_if(
      recording.requests, [](const RecordedRequest& one) { return one.answer.empty(); });
  return recording;
}

bool is_same_answer(std::string_view left, std::string_view right) {
  const auto one = json::parse(left);
  const auto other = json::parse(right);
  return one && other ? is_same(*one, *other) : left == right;
}

ExitCode replay(Dialogue& dialogue, const Options& options) {
  Console& console = dialogue.console();
  const std::string& path = options.operands.front();
  const bridge::FileContent file = bridge::read_regular_file(path, longest_recording);
  if (!file.fault.empty()) {
    return tell_failure(
        console, options,
        {"file", fmt::format("cannot read {}: {}", path, file.fault), ExitCode::usage});
  }
  const Recording recording = read_recording(file.bytes);
  if (recording.wrong_line != 0) {
    return tell_failure(console, options,
                        {"usage",
                         fmt::format("{}: line {} is not from mcp-nc record; nothing was sent",
                                     path, recording.wrong_line),
                         ExitCode::usage});
  }
  std::string text;
  json::JsonArray differences;
  std::size_t different = 0;
  for (const RecordedRequest& request : recording.requests) {
    const Answer now = dialogue.ask(request.method, request.params);
    const bool has_failed = now.outcome == Answer::Outcome::error;
    if (!has_failed && !now.ok()) return dialogue.report(now);
    if (has_failed == request.has_failed && is_same_answer(request.answer, now.payload)) continue;
    ++different;
    json::JsonObject difference;
    difference.add("method", request.method);
    difference.add("params", json::RawJson{request.params.empty() ? "null" : request.params});
    difference.add("was", json::RawJson{request.answer}).add("is", json::RawJson{now.payload});
    differences.add(difference);
    text += fmt::format("{} {}\n  was: {}\n  is:  {}\n", bridge::make_visible_line(request.method),
                        start_of(request.params), start_of(request.answer), start_of(now.payload));
  }
  if (options.json) {
    json::JsonObject object;
    object.add("replayed", recording.requests.size()).add("leftOut", recording.left_out);
    console.print(object.add("different", differences));
  } else {
    console.print(text);
    console.note(fmt::format(
        "{} sent again, {} responses changed{}", recording.requests.size(), different,
        recording.left_out == 0 ? ""
                                : fmt::format("; {} left out: their response or params are not "
                                              "in the record",
                                              recording.left_out)));
  }
  return different == 0 ? ExitCode::ok : ExitCode::answered_error;
}

}  // namespace client
