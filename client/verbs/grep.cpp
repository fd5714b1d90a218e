#include "verbs/grep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "json/scan.hpp"
#include "json/value.hpp"
#include "terminal/utf8.hpp"
#include "terminal/visible.hpp"
#include "verbs/server_list.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

struct SearchedList {
  ServerList list;
  std::string_view kind;
};
constexpr std::array<SearchedList, 4> searched_lists = {
    {{tool_list, "tool"},
     {{"resources/list", "resources", "uri"}, "resource"},
     {{"resources/templates/list", "resourceTemplates", "uriTemplate"}, "template"},
     {{"prompts/list", "prompts"}, "prompt"}}};

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

bool has_all(const json::Value& element, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string_view member : {"name", "title", "description", "uri", "uriTemplate"})
    text += in_small_letters(element.string(member)) + "\n";
  return std::all_of(words.begin(), words.end(), [&text](const std::string& word) {
    return text.find(in_small_letters(word)) != std::string::npos;
  });
}

std::string hit_line(const json::Value& element, const SearchedList& searched,
                     std::string_view prefix, std::size_t width) {
  std::string line =
      fmt::format("{}{} {}", prefix, searched.kind, element.string(searched.list.name));
  std::string_view about = element.string("description");
  if (about.empty()) about = element.string("title");
  if (searched.list.name != "name" && about.empty()) about = element.string("name");
  if (!about.empty()) line += fmt::format("  - {}", about.substr(0, about.find('\n')));
  line = make_visible_line(line);
  return (width == 0 ? line : std::string(fit_columns(line, width))) + "\n";
}

}  // namespace

std::variant<Hits, Answer> find_hits(Dialogue& dialogue, const Options& options,
                                     std::string_view prefix) {
  const std::size_t width = dialogue.console().output_width();
  Hits hits;
  for (const SearchedList& searched : searched_lists) {
    auto fetched = fetch_list(dialogue, searched.list);
    hits.json += fmt::format("{}\"{}\":[", hits.json.empty() ? "" : ",", searched.list.member);
    if (auto* failed = std::get_if<Answer>(&fetched)) {
      // Many servers have no such list, and say so with an error.
      if (failed->outcome != Answer::Outcome::error ||
          exit_code_for_error(failed->payload) != ExitCode::answered_error)
        return std::move(*failed);
      hits.json += ']';
      continue;
    }
    for (const std::string_view element :
         elements_of(std::get<std::vector<std::string>>(fetched), searched.list)) {
      const auto value = json::parse(element);
      if (!value || !has_all(*value, options.operands)) continue;
      hits.has_any = true;
      if (hits.json.back() != '[') hits.json += ',';
      hits.json += element;
      hits.text += hit_line(*value, searched, prefix, width);
    }
    hits.json += ']';
  }
  return hits;
}

ExitCode grep(Dialogue& dialogue, const Options& options) {
  const auto found = find_hits(dialogue, options, "");
  if (const auto* failed = std::get_if<Answer>(&found)) return dialogue.report(*failed);
  const Hits& hits = std::get<Hits>(found);
  dialogue.console().print(options.json ? fmt::format("{{{}}}\n", hits.json) : hits.text);
  return hits.has_any ? ExitCode::ok : ExitCode::answered_error;
}

}  // namespace client
