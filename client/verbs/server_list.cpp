#include "verbs/server_list.hpp"

#include <fmt/format.h>

#include <utility>

#include "json/scan.hpp"

namespace client {
namespace {

constexpr int most_pages = 1000;

}  // namespace

std::variant<std::vector<std::string>, Answer> fetch_list(Dialogue& dialogue,
                                                          const ServerList& list) {
  std::vector<std::string> pages;
  std::string params;
  for (int page = 0; page < most_pages; ++page) {
    Answer answer = dialogue.ask(list.method, params);
    if (answer.outcome != Answer::Outcome::result) return answer;
    const auto cursor = json::member(answer.payload, "nextCursor");
    const bool has_more = cursor && json::is_string(*cursor);
    if (has_more) params = fmt::format(R"({{"cursor":{}}})", *cursor);
    pages.push_back(std::move(answer.payload));
    if (!has_more) return pages;
  }
  dialogue.console().note(fmt::format("stopped after {} pages, there are more", most_pages));
  return pages;
}

std::vector<std::string_view> elements_of(const std::vector<std::string>& pages,
                                          const ServerList& list) {
  std::vector<std::string_view> all;
  for (const std::string& page : pages) {
    const auto array = json::member(page, list.member);
    if (!array) continue;
    if (const auto elements = json::elements(*array)) {
      all.insert(all.end(), elements->begin(), elements->end());
    }
  }
  return all;
}

std::string raw_result(const std::vector<std::string>& pages, const ServerList& list) {
  if (pages.size() == 1) return pages.front() + "\n";
  std::string text = fmt::format("{{\"{}\":[", list.member);
  for (const std::string_view element : elements_of(pages, list)) {
    if (text.back() != '[') text.push_back(',');
    text += element;
  }
  return text + "]}\n";
}

std::string name_of(std::string_view element, const ServerList& list) {
  const auto name = json::member(element, list.name);
  return name && json::is_string(*name) ? json::decode_string(*name) : std::string();
}

}  // namespace client
