#include "verbs/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "json/message.hpp"
#include "json/scan.hpp"

namespace client {
namespace {

using json::Value;

constexpr std::array<std::string_view, 4> of_the_session = {"initialize", "server/discover", "ping",
                                                            "subscriptions/listen"};

bool is_about_session(std::string_view method) {
  return method.starts_with("bridge/") ||
         std::find(of_the_session.begin(), of_the_session.end(), method) != of_the_session.end();
}

/// Whose progress it was, and what a modern client says of itself, is the next one's own to say.
std::string without_meta(std::string_view params) {
  const auto members = json::members(params);
  if (!members) return std::string(params);
  std::string text;
  for (const json::RawMember& one : *members) {
    if (json::decode_string(one.key) == "_meta") continue;
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", one.key, one.value);
  }
  return "{" + text + "}";
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

}  // namespace

Recording read_recording(std::string_view text) {
  Recording recording;
  std::map<std::string, std::size_t> open;  // by the client and its id
  std::vector<bool> is_answered;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool is_cut_off = line.size() == text.size() && number > 1;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string passage = json::string_member(line, "passage");
    const bool is_wrong = passage.empty() && !line.empty() && !is_cut_off;
    if (is_wrong && recording.wrong_line == 0) recording.wrong_line = number;
    const auto raw = json::member(line, "message");
    if (passage == "from_client" && !raw) ++recording.left_out;  // too long to be shown whole
    if (!raw || (passage != "from_client" && passage != "to_client")) continue;
    const json::Message message = json::parse_message(*raw);
    const std::string key =
        fmt::format("{} {}", json::member(line, "client").value_or(""), message.id);
    if (passage == "from_client" && message.kind == json::Message::Kind::request) {
      if (is_about_session(message.method)) continue;
      open[key] = recording.requests.size();
      recording.requests.push_back(
          {std::string(message.method), without_meta(message.params), "", false});
      is_answered.push_back(false);
    } else if (passage == "to_client" && message.kind == json::Message::Kind::response) {
      const auto found = open.find(key);
      if (found == open.end()) continue;
      RecordedRequest& request = recording.requests[found->second];
      request.has_failed = !message.error.empty();
      request.answer = request.has_failed ? message.error : message.result;
      is_answered[found->second] = true;
      open.erase(found);
    }
  }
  std::size_t at = 0;
  recording.left_out += static_cast<std::size_t>(std::erase_if(
      recording.requests, [&](const RecordedRequest&) { return !is_answered[at++]; }));
  return recording;
}

bool is_same_answer(std::string_view left, std::string_view right) {
  const auto one = json::parse(left);
  const auto other = json::parse(right);
  return one && other ? is_same(*one, *other) : left == right;
}

}  // namespace client
