#include "scripted_stream.hpp"

#include <fmt/format.h>

#include <chrono>

#include "event_stream.hpp"
#include "json_text.hpp"
#include "tcp_socket.hpp"

namespace demo {
namespace {

struct ScriptedEvent {
  std::string bytes;
  std::chrono::milliseconds delay{0};
};

std::string event_bytes(std::string_view event, const Placeholders& values) {
  const auto raw = json::member(event, "raw");
  if (!raw.empty()) return values.applied(json::text(raw));
  std::string bytes;
  for (const std::string_view field : {"event", "id", "retry"}) {
    const auto value = json::member(event, field);
    if (!value.empty()) bytes += fmt::format("{}: {}\n", field, values.applied(json::text(value)));
  }
  const auto data = json::member(event, "data");
  if (!data.empty()) bytes += data_lines(values.applied(json::text(data)));
  return bytes + '\n';
}

std::vector<ScriptedEvent> events_of(std::string_view action, const Placeholders& values) {
  std::vector<ScriptedEvent> events;
  for (const auto event : json::elements(json::member(action, "sse"))) {
    const auto delay = json::integer(json::member(event, "delayMs"), 0);
    events.push_back({event_bytes(event, values), std::chrono::milliseconds(delay)});
  }
  return events;
}

bool write_events(const std::vector<ScriptedEvent>& events, Sink& sink) {
  for (const auto& event : events) {
    const bool gone =
        event.delay.count() > 0 && tcp::wait_until_peer_is_gone(sink.descriptor(), event.delay);
    if (gone || !sink.write(event.bytes)) return false;
  }
  return true;
}

/// Writes the real response as part of the stream; false if the client has left.
bool write_real(const Answer& real, Sink& sink) {
  if (real.writer) return real.writer(sink) != BodyEnd::kGone;
  if (real.body.empty()) return true;
  return sink.write(real.content_type == "text/event-stream"
                        ? real.body
                        : "event: message\n" + data_lines(real.body) + '\n');
}

}  // namespace

std::string Placeholders::applied(std::string text) const {
  if (text.find('$') == std::string::npos) return text;
  text = json::substituted(std::move(text), "$ID", id);
  text = json::substituted(std::move(text), "$TOKEN", token);
  return json::substituted(std::move(text), "$SESSION", session);
}

Answer scripted_stream(std::string_view action, const Placeholders& values, Answer real,
                       bool then_real) {
  const auto end = std::string(json::inside(json::member(action, "end")));
  auto headers = real.headers;
  auto answer = Answer::events(
      [events = events_of(action, values), real = std::move(real), then_real, end](Sink& sink) {
        if (!write_events(events, sink)) return BodyEnd::kGone;
        if (then_real && !write_real(real, sink)) return BodyEnd::kGone;
        if (end == "keep") {
          tcp::wait_until_peer_is_gone(sink.descriptor(), std::chrono::milliseconds(-1));
          return BodyEnd::kGone;
        }
        return body_end(end);
      });
  // From the real response: the session id of an initialize.
  for (auto& header : headers) {
    if (header.first != "Cache-Control") answer.headers.push_back(std::move(header));
  }
  return answer;
}

}  // namespace demo
