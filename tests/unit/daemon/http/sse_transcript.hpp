#pragma once

#include <string>
#include <vector>

#include "http/sse_parser.hpp"

/// Records what a parser reports, one line each, with the id at that moment.
class SseTranscript final : public bridge::SseSink {
 public:
  explicit SseTranscript(std::size_t max_event) : parser(max_event) {}

  void feed(std::string_view chunk) { parser.feed(chunk, *this); }

  void on_event(std::string type, bridge::ReceivedText data) override {
    lines.push_back("event " + type + '|' + data.bytes + '|' + parser.last_event_id());
  }
  void on_retry(std::chrono::milliseconds delay) override {
    lines.push_back("retry " + std::to_string(delay.count()));
  }
  void on_oversized_event() override { lines.push_back("oversized"); }
  void on_oversized_event_end(std::string_view beginning, std::string_view end) override {
    ends.push_back(std::string(beginning) + '|' + std::string(end));
  }

  bridge::SseParser parser;
  std::vector<std::string> lines;
  std::vector<std::string> ends;  ///< of the oversized ones
};
