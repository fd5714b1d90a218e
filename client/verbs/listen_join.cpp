#include "verbs/listen_join.hpp"

#include <fmt/format.h>

#include <charconv>

#include "json/scan.hpp"

namespace client {
namespace {

constexpr int page_limit = 1000;

std::optional<std::uint64_t> read_sequence(std::string_view object, std::string_view name) {
  const auto found = json::member(object, name);
  if (!found) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = found->data() + found->size();
  const auto [rest, error] = std::from_chars(found->data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

bool is_true(std::string_view object, std::string_view name) {
  return json::member(object, name) == std::optional<std::string_view>("true");
}

}  // namespace

std::string ListenJoin::params() const {
  std::string text = fmt::format(R"({{"since":{},"limit":{})", since_, page_limit);
  if (!instance_.empty()) text += ",\"instance\":" + instance_;
  return text + "}";
}

std::optional<ListenJoin::Page> ListenJoin::take_page(std::string_view result) {
  const auto array = json::member(result, "notifications");
  const auto entries = array ? json::elements(*array) : std::nullopt;
  if (!entries) return std::nullopt;
  const bool has_more = is_true(result, "more");
  newest_ = read_sequence(result, "newest").value_or(0);
  if (const auto instance = json::member(result, "instance")) instance_ = *instance;

  Page page;
  if (newest_ < since_) {
    // Numbers begin at 1 again when the daemon restarts: all it has is after `since`.
    page.warning =
        fmt::format("gap: the daemon was restarted, its newest is {}, not {}", newest_, since_);
    page.ask_again = newest_ > 0;
    joined_ = !page.ask_again;
    since_ = 0;
    return page;
  }
  if (is_true(result, "gap") && !(only_untaken_ && since_ == 0)) {
    page.warning = fmt::format("gap: those after {} up to {} are no longer there", since_,
                               read_sequence(result, "oldest").value_or(newest_ + 1) - 1);
  }
  bool has_progress = false;
  for (const std::string_view entry : *entries) {
    const auto sequence = read_sequence(entry, "seq");
    const auto message = json::member(entry, "message");
    if (!sequence || !message) return std::nullopt;
    if (*sequence <= since_) continue;
    since_ = *sequence;
    has_progress = true;
    if (only_untaken_ && is_true(entry, "taken")) continue;
    page.heard.push_back({sequence, std::string(*message)});
  }
  page.ask_again = has_more && has_progress;  // without progress it would go on for ever
  joined_ = !page.ask_again;
  return page;
}

std::optional<Heard> ListenJoin::take_live(std::string_view line) {
  if (!joined_) return std::nullopt;
  return Heard{++newest_, std::string(line)};
}

std::string render_heard(const Heard& heard, bool with_sequence) {
  if (!with_sequence) return heard.message + "\n";
  if (!heard.sequence) return fmt::format("{{\"message\":{}}}\n", heard.message);
  return fmt::format("{{\"seq\":{},\"message\":{}}}\n", *heard.sequence, heard.message);
}

}  // namespace client
