#include "json/json_progress.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "json/json_block.hpp"
#include "json_texts.hpp"
#include "text/utf8.hpp"

using bridge::CheckedJson;
using bridge::JsonContainers;
using bridge::JsonProgress;
using bridge::JsonScanner;
using bridge::Slice;
using bridge::VectorCode;

namespace {

/// The reference: the scanner that reads a whole text byte by byte.
bool is_good(std::string_view text) {
  JsonScanner scanner(text);
  Slice value;
  scanner.skip_space();
  if (scanner.peek() != '{' && scanner.peek() != '[') return false;
  if (!scanner.value(value)) return false;
  scanner.skip_space();
  return scanner.at_end() && bridge::is_utf8(text);
}

std::vector<VectorCode> codes_to_run() {
  std::vector<VectorCode> codes;
  for (const VectorCode code : {VectorCode::none, VectorCode::sse2, VectorCode::avx2}) {
    if (bridge::can_run(code)) codes.push_back(code);
  }
  return codes;
}

std::optional<CheckedJson> read(std::string_view text, std::size_t cut,
                                VectorCode code = bridge::fastest_code()) {
  JsonProgress progress(code);
  for (std::size_t end = cut; end < text.size(); end += cut) progress.read_on(text.substr(0, end));
  return progress.finish(text);
}

bool is_found_right(const CheckedJson& checked, std::string_view text) {
  for (const Slice& value : checked.values) {
    JsonScanner scanner(value.of(text));
    Slice taken;
    if (!scanner.value(taken) || !scanner.at_end()) return false;
  }
  return checked.has_line_breaks == (text.find_first_of("\r\n") != text.npos);
}

bool agrees(std::string_view text, std::size_t cut) {
  static const std::vector<VectorCode> codes = codes_to_run();
  const bool good = is_good(text);
  for (const VectorCode code : codes) {
    const auto checked = read(text, cut, code);
    if (checked.has_value() != good) return false;
    if (checked && !is_found_right(*checked, text)) return false;
  }
  return true;
}

bool agrees(std::string_view text) {
  for (const std::size_t cut :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{4097}, text.size() + 1}) {
    if (!agrees(text, cut)) return false;
  }
  return true;
}

const std::vector<std::string>* const all_texts[] = {&bridge::good_json, &bridge::bad_json,
                                                     &bridge::json_of_no_utf8};

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

}  // namespace

TEST_CASE("it says of texts what the plain scanner says, however they are cut") {
  for (const auto* texts : all_texts) {
    for (const std::string& text : *texts) {
      CAPTURE(text);
      for (const std::string& one : {text, "[" + text + "]"}) {
        for (std::size_t cut = 1; cut <= one.size() + 1; ++cut) CHECK(agrees(one, cut));
      }
    }
  }
}

TEST_CASE("it says so wherever a text meets the edge of a block") {
  for (const auto* texts : all_texts) {
    for (const std::string& text : *texts) {
      for (std::size_t spaces = 0; spaces < 70; ++spaces) {
        CAPTURE(text);
        CAPTURE(spaces);
        REQUIRE(agrees(std::string(spaces, ' ') + text, 64));
        REQUIRE(agrees("[\"" + std::string(spaces, 'x') + "\"," + text + "]", 64));
        REQUIRE(agrees("[\"" + std::string(spaces, 'x') + "\\\\\"," + text + "]", 1));
      }
    }
  }
}

TEST_CASE("it says of texts that were changed at random what the plain scanner says") {
  std::minstd_rand random(1);
  const std::string_view bytes = "{}[]:,\"\\ \n019-.eEtrufalsnu\x01\xc3\xa9\x80";
  std::string text = R"({"result":{"text":")" + std::string(100, 'a') +
                     R"(\n\"\u00e9","rows":[{"id":1,"at":[1.5,-2e3],"open":true},null]}})";
  for (int round = 0; round < 20000; ++round) {
    std::string changed = text;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % changed.size();
      const char byte = bytes[random() % bytes.size()];
      switch (random() % 3) {
        case 0: changed[at] = byte; break;
        case 1: changed.insert(at, 1, byte); break;
        default: changed.erase(at, 1 + random() % 5);
      }
    }
    CAPTURE(changed);
    REQUIRE(agrees(changed, 1 + random() % 130));
  }
}

TEST_CASE("it goes as deep as the plain scanner") {
  for (const VectorCode code : codes_to_run()) {
    CHECK(read(nested(JsonScanner::max_depth), 100, code).has_value());
    CHECK_FALSE(read(nested(JsonScanner::max_depth + 1), 100, code).has_value());
  }
}

TEST_CASE("containers of both kinds are told apart at every depth, wherever a block ends") {
  std::minstd_rand random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text, closing;
    const std::size_t depth = random() % (round % 10 == 0 ? 200 : 12);
    for (std::size_t level = 0; level < depth; ++level) {
      const bool is_object = random() % 2 == 0;
      if (random() % 3 == 0)
        text += is_object ? R"({"a":[],"b":{},"c":)" : R"([{},[],)";
      else
        text += is_object ? R"({"a":)" : "[";
      closing.insert(0, is_object ? (random() % 2 == 0 ? "}" : R"(,"d":[{}]})")
                                  : (random() % 2 == 0 ? "]" : ",[]]"));
    }
    text = "[" + text + "0" + closing + "]";
    REQUIRE(is_good(text));
    REQUIRE(agrees(text, 1 + random() % 130));
    const std::size_t at = text.find_first_of("[]{}", random() % text.size());
    if (at == text.npos) continue;
    text[at] = "[]{}"[random() % 4];
    CAPTURE(text);
    REQUIRE(agrees(text, 1 + random() % 130));
  }
}

TEST_CASE("a character beyond ASCII may be cut wherever a piece, or a step of the check, ends") {
  for (const std::string_view character : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    for (const std::size_t edge : {std::size_t{64}, std::size_t{16} << 10}) {
      for (std::size_t before = edge - 6; before < edge + 2; ++before) {
        std::string text = "[\"" + std::string(before, 'x');
        for (const bool whole : {true, false}) {
          const std::string both =
              text + std::string(character.substr(0, character.size() - (whole ? 0 : 1))) +
              std::string(100, 'x') + "\"]";
          CAPTURE(before);
          REQUIRE(is_good(both) == whole);
          REQUIRE(agrees(both, 64));
          REQUIRE(agrees(both, both.size() + 1));
        }
      }
    }
  }
}

TEST_CASE("it notes the large members of the two outermost objects, and no others") {
  const std::string large(JsonProgress::large_value, 'x');
  const std::string text = R"({"error":")" + large + R"(","result":{"few":1,"content":[")" + large +
                           R"("],"data":")" + large + R"(","_meta":{"deep":")" + large +
                           R"("}},"more":[{"inside":")" + large + R"("}]})";
  for (const std::size_t cut : {std::size_t{1}, std::size_t{64}, text.size()}) {
    const auto checked = read(text, cut);
    REQUIRE(checked.has_value());
    std::vector<std::string> begins;
    for (const Slice& value : checked->values)
      begins.push_back(text.substr(text.rfind('"', value.begin - 3) + 1,
                                   value.begin - 3 - text.rfind('"', value.begin - 3)) +
                       text[value.end - 1]);
    CHECK(begins ==
          std::vector<std::string>{"error\"", "result}", "content]", "data\"", "_meta}", "more]"});
    for (const Slice& value : checked->values) CHECK(checked->value_at(value.begin) == &value);
    CHECK(checked->value_at(0) == nullptr);
    CHECK(checked->value_at(text.size()) == nullptr);
  }
}

TEST_CASE("large texts agree, at every cut") {
  std::string rows;
  while (rows.size() < 100'000)
    rows += R"({"id":1042,"name":"r\u00f6w","at":[51.5074,-0.1278],"open":true,"note":null},)";
  rows.pop_back();
  CHECK(agrees(R"({"result":{"rows":[)" + rows + "]}}"));
  CHECK(agrees(R"({"result":{"rows":[)" + rows + ",]}}"));
  std::string text;
  while (text.size() < 100'000) text += "  \\\"caf\xc3\xa9\\\" \\\\ \\n";
  CHECK(agrees(R"({"result":{"text":")" + text + "\"}}"));
  text.resize(70'000);
  CHECK(agrees(R"({"result":{"text":")" + text));
}

TEST_CASE("kinds of containers come back in the reverse order, however deep it was meanwhile") {
  JsonContainers containers;
  JsonContainers::Outer outer{};
  std::vector<std::uint64_t> kinds;
  std::uint32_t random = 1;
  const auto open = [&] {
    random = random * 1664525 + 1013904223;
    const std::uint64_t kind = random >> 31;
    if (!containers.open(kind, outer)) return false;
    kinds.push_back(kind);
    return true;
  };
  const auto close = [&] {
    CHECK(containers.in_object() == kinds.back());
    kinds.pop_back();
    containers.close(outer);
    CHECK(containers.depth() == kinds.size());
    CHECK(containers.in_object() == (kinds.empty() ? 0 : kinds.back()));
  };
  for (const std::size_t deepest : {1u, 63u, 64u, 65u, 127u, 128u, 129u, 700u, 1024u}) {
    for (const std::size_t lowest :
         {deepest / 2, std::size_t{63}, std::size_t{64}, std::size_t{0}}) {
      while (containers.depth() < deepest) REQUIRE(open());
      while (containers.depth() > lowest) close();
    }
  }
  CHECK(containers.in_object() == 0);
}

TEST_CASE("no more are open than a message may have") {
  JsonContainers containers;
  JsonContainers::Outer outer{};
  while (containers.depth() < JsonScanner::max_depth) REQUIRE(containers.open(1, outer));
  CHECK_FALSE(containers.open(1, outer));
  CHECK(containers.depth() == JsonScanner::max_depth);
}
