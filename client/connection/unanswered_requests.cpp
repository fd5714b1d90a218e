#include "connection/unanswered_requests.hpp"

#include <utility>

#include "json/message.hpp"
#include "json/scan.hpp"

namespace client {

bool UnansweredRequests::take_sent(std::string_view bytes) {
  split(sent_, bytes, &UnansweredRequests::note_sent);
  return std::exchange(has_new_, false);
}

bool UnansweredRequests::take_end_of_sending() {
  end_line(sent_, {}, &UnansweredRequests::note_sent);
  return std::exchange(has_new_, false);
}

void UnansweredRequests::take_received(std::string_view bytes) {
  split(received_, bytes, &UnansweredRequests::note_received);
}

void UnansweredRequests::split(Line& line, std::string_view bytes, Take take) {
  for (std::size_t end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
    end_line(line, bytes.substr(0, end), take);
    bytes.remove_prefix(end + 1);
  }
  if (line.is_too_long) return;
  if (line.begun.size() + bytes.size() > longest_line) {
    line = {{}, true};
  } else {
    line.begun += bytes;
  }
}

void UnansweredRequests::end_line(Line& line, std::string_view rest, Take take) {
  Line ended = std::exchange(line, {});
  if (ended.is_too_long || ended.begun.size() + rest.size() > longest_line) {
    // Whose answer it was is not known.
    if (&line == &received_) ids_.clear();
  } else {
    if (!ended.begun.empty()) rest = ended.begun.append(rest);
    take_line(rest, take);
  }
}

void UnansweredRequests::take_line(std::string_view line, Take take) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == line.npos) return;
  if (line[begin] != '[') return (this->*take)(line);
  if (const auto batch = json::elements(line)) {
    for (const std::string_view message : *batch) (this->*take)(message);
  }
}

void UnansweredRequests::note_sent(std::string_view text) {
  const json::Message message = json::parse_message(text);
  if (message.kind == json::Message::Kind::request) {
    if (message.id.size() > longest_id || ids_.size() >= most_requests) return;
    ids_.emplace(message.id);
    has_new_ = true;
  } else if (message.method == "notifications/cancelled") {
    const auto id = json::member(message.params, "requestId");
    const auto found = id ? ids_.find(*id) : ids_.end();
    if (found != ids_.end()) ids_.erase(found);  // no answer need come
  }
}

void UnansweredRequests::note_received(std::string_view text) {
  const json::Message message = json::parse_message(text);
  if (message.kind != json::Message::Kind::response) return;
  if (message.id.empty() || message.id == "null") {
    ids_.clear();  // a line that the daemon did not take: which one is not said
    return;
  }
  const auto found = ids_.find(message.id);
  if (found != ids_.end()) ids_.erase(found);
}

}  // namespace client
