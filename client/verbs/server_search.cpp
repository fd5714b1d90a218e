#include "verbs/server_search.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "json/text.hpp"
#include "json/value.hpp"
#include "verbs/describe_error.hpp"
#include "verbs/roots.hpp"

namespace client {
namespace {

std::string why_not(const Answer& answer) {
  if (answer.outcome == Answer::Outcome::error) return describe_error(answer.payload);
  if (answer.outcome == Answer::Outcome::timed_out) return "no answer in time";
  return "its daemon closed the connection before it answered";
}

SearchOutcome search(Connected connected, const std::string& name, const Options& options,
                     Deadline deadline, bool is_new) {
  Interrupt interrupt;
  Console console(interrupt.descriptor());
  Dialogue dialogue(std::move(connected), options, deadline, true, console, interrupt);
  std::variant<Hits, Answer> found = Hits();
  if (is_new) found = open_with_roots(dialogue, "");
  if (!is_new || std::get<Answer>(found).outcome == Answer::Outcome::result)
    found = find_hits(dialogue, options, fmt::format("@{} ", name));
  if (auto* hits = std::get_if<Hits>(&found)) return {std::move(*hits)};
  const Answer& failed = std::get<Answer>(found);
  return {{}, why_not(failed), failed.outcome == Answer::Outcome::interrupted};
}

void write_all(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(pipe, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

bool is_true(const json::Value& object, std::string_view name) {
  const json::Value* const member = object.find(name, json::Value::Kind::boolean);
  return member != nullptr && member->truth;
}

}  // namespace

std::string outcome_text(const SearchOutcome& outcome) {
  return fmt::format(R"({{"any":{},"text":{},"json":{},"why":{},"interrupted":{}}})",
                     outcome.hits.has_any, json::quote(outcome.hits.text),
                     json::quote(outcome.hits.json), json::quote(outcome.why),
                     outcome.was_interrupted);
}

SearchOutcome read_outcome(std::string_view text) {
  const auto told = json::parse(text);
  if (!told || !told->is(json::Value::Kind::object)) return {{}, "its search came to nothing"};
  SearchOutcome outcome;
  outcome.hits = {is_true(*told, "any"), std::string(told->string("text")),
                  std::string(told->string("json"))};
  outcome.why = told->string("why");
  outcome.was_interrupted = is_true(*told, "interrupted");
  return outcome;
}

ServerSearch::ServerSearch(Connected connected, const std::string& name, const Options& options,
                           Deadline deadline, bool is_new) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  told_ = FileDescriptor(ends[0]);
  const FileDescriptor telling(ends[1]);
  process_ = ::fork();
  if (process_ != 0) return;
  told_ = FileDescriptor();
  write_all(telling.get(),
            outcome_text(search(std::move(connected), name, options, deadline, is_new)));
  ::_exit(0);
}

ServerSearch::~ServerSearch() {
  if (process_ <= 0) return;
  ::kill(process_, SIGTERM);  // it cancels what it has asked, if it has not ended
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

SearchOutcome ServerSearch::outcome(Interrupt& interrupt) {
  std::string text;
  std::array<char, 16384> buffer{};
  for (;;) {
    std::array<pollfd, 2> events = {
        {{told_.get(), POLLIN, 0}, {interrupt.descriptor(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0 && errno != EINTR) break;
    if (events[1].revents != 0) return {{}, "interrupted", true};
    if (events[0].revents == 0) continue;
    const ssize_t count = ::read(told_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return read_outcome(text);
}

}  // namespace client
