#include "json/arriving_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "json/json_progress.hpp"
#include "json/json_text.hpp"

using bridge::ArrivingText;
using bridge::CheckedJson;
using bridge::JsonProgress;
using bridge::ReceivedText;

namespace {

constexpr std::size_t limit = 4u << 20;

/// A message of about that many bytes, in which escapes and multi-byte characters occur.
std::string message(std::size_t size) {
  std::string text = R"({"jsonrpc":"2.0","id":1,"result":{"rows":[)";
  while (text.size() < size) text += R"({"name":"r\u00f6w \"\\\" é€😀","at":[1.5,-2e3],"on":true},)";
  return text + "null]}}";
}

ReceivedText in_pieces(std::string_view text, std::size_t first, std::size_t others) {
  ArrivingText arriving;
  arriving.append(text.substr(0, first), limit);
  for (std::size_t at = first; at < text.size(); at += others)
    arriving.append(text.substr(at, others), limit);
  return arriving.take();
}

bool same(const CheckedJson& one, const CheckedJson& other) {
  return one.has_line_breaks == other.has_line_breaks &&
         std::equal(one.values.begin(), one.values.end(), other.values.begin(), other.values.end(),
                    [](auto a, auto b) { return a.begin == b.begin && a.end == b.end; });
}

}  // namespace

TEST_CASE("wherever a large message is cut, it is checked as it is in one piece") {
  const std::string text = message(JsonProgress::worthwhile + 300);
  const auto whole = JsonProgress().finish(text);
  REQUIRE(whole.has_value());
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const ReceivedText received = in_pieces(text, cut, text.size());
    REQUIRE(received.bytes == text);
    REQUIRE(received.checked != nullptr);
    REQUIRE(same(*received.checked, *whole));
  }
}

TEST_CASE("wherever a message is cut that is bad in one byte, nothing is said of it") {
  const std::string good = message(JsonProgress::worthwhile + 300);
  for (const char byte : {'\xff', '\n', '"', '}', '\\'}) {
    std::string text = good;
    text[text.rfind("on\":") + 3] = byte;
    REQUIRE_FALSE(JsonProgress().finish(text).has_value());
    for (std::size_t cut = 0; cut <= text.size(); cut += 7)
      REQUIRE(in_pieces(text, cut, 61).checked == nullptr);
  }
}

TEST_CASE("the last byte of a line may go, wherever the pieces end") {
  for (const std::size_t more : {0u, 1u, 31u, 62u, 63u, 64u}) {
    const std::string text = message(JsonProgress::worthwhile) + std::string(more, ' ');
    for (const std::size_t piece : {1u, 63u, 64u, 4096u}) {
      ArrivingText arriving;
      const std::string line = text + '\r';
      for (std::size_t at = 0; at < line.size(); at += piece)
        arriving.append(std::string_view(line).substr(at, piece), limit);
      arriving.drop_last();
      const ReceivedText received = arriving.take();
      CHECK(received.bytes == text);
      REQUIRE(received.checked != nullptr);
      CHECK_FALSE(received.checked->has_line_breaks);
    }
  }
}

TEST_CASE("of a small message and of what is no JSON nothing is known") {
  CHECK(in_pieces("{}", 1, 1).checked == nullptr);
  CHECK(in_pieces(std::string(20'000, 'x'), 1, 1000).checked == nullptr);
}

TEST_CASE("one text follows the other") {
  ArrivingText arriving;
  const std::string large = message(20'000);
  for (int i = 0; i < 3; ++i) {
    arriving.append(large, limit);
    CHECK(arriving.take().checked != nullptr);
    CHECK(arriving.empty());
    arriving.append("[1", limit);
    arriving.append(large, limit);
    arriving.clear();
    CHECK(arriving.empty());
  }
  arriving.restore(large.substr(0, 15'000));
  arriving.append(std::string_view(large).substr(15'000), limit);
  const ReceivedText received = arriving.take();
  CHECK(received.bytes == large);
  CHECK(received.checked != nullptr);
}

TEST_CASE("what comes behind a large beginning is not moved again, said to come or not") {
  for (const bool is_said : {false, true}) {
    const std::string piece(64u << 10, ' ');
    ArrivingText arriving;
    if (is_said) arriving.expect(limit);
    while (arriving.size() <= ArrivingText::large) arriving.append(piece, limit);
    const char* const place = arriving.bytes().data();
    while (arriving.size() < limit) arriving.append(piece, limit);
    CHECK(arriving.bytes().data() == place);
    ReceivedText received = arriving.take();
    received.bytes.push_back('\n');
    CHECK(received.bytes.data() == place);
  }
}

TEST_CASE("line breaks between the tokens of a message that is known become spaces") {
  std::string text = message(20'000);
  text.insert(1, "\r\n");
  ReceivedText received = in_pieces(text, 100, 1000);
  REQUIRE(received.checked != nullptr);
  bridge::make_single_line(received);
  text.replace(1, 2, "  ");
  CHECK(received.bytes == text);
}
