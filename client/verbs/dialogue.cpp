#include "verbs/dialogue.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "connection/hints.hpp"
#include "json/scan.hpp"
#include "json/text.hpp"
#include "terminal/progress_bar.hpp"
#include "verbs/describe_error.hpp"
#include "verbs/waiting_hint.hpp"
#include "verbs/wire.hpp"

namespace client {
namespace {

/// Id of a request whose answer says that the daemon has read bridge/peek: what it had written
/// from its ring before that is behind us then.
constexpr std::string_view peeked_id = "\"peeked\"";
/// Id of the request that looks into what another one is waiting for.
constexpr std::string_view look_id = "\"look\"";

bool is_for_the_bridge(std::string_view method) { return method.substr(0, 7) == "bridge/"; }

}  // namespace

Dialogue::Dialogue(Connected connected, const Options& options, Deadline deadline, bool keep,
                   Console& console, Interrupt& interrupt)
    : path_(std::move(connected.path)),
      console_(console),
      interrupt_(interrupt),
      conversation_(std::move(connected.daemon), interrupt.descriptor()),
      limit_(options.timeout),
      farewell_(options.names ? Milliseconds(0) : farewell),
      deadline_(deadline),
      announce_keep_(keep),
      announce_answers_(can_ask()),
      skipping_ring_(keep) {}

Answer Dialogue::ask(std::string_view method, std::string_view params) {
  const std::string id = next_id();
  ++last_id_;
  announce_keep(method);
  announce_answers(method);
  conversation_.queue(json::make_request(id, method, params));
  if (console_.error_is_terminal() && !is_for_the_bridge(method)) {
    look_at_ = Deadline::after(waiting_timeout);
  }
  Answer answer = *wait(deadline_, id);
  look_at_.reset();
  console_.clear_transient();
  if (answer.outcome == Answer::Outcome::timed_out) give_up(id, method, "time is up");
  if (answer.outcome == Answer::Outcome::interrupted) give_up(id, method, "interrupted");
  return answer;
}

void Dialogue::tell(std::string_view method, std::string_view params) {
  announce_keep(method);
  conversation_.queue(json::make_notification(method, params));
}

/// Until the daemon has read bridge/peek it gives us its ring, as to anybody who connects. All of
/// that stays in the ring, so showing it would only be noise.
void Dialogue::announce_keep(std::string_view next_method) {
  if (!std::exchange(announce_keep_, false)) return;
  conversation_.queue(json::make_notification("bridge/peek", ""));
  if (is_for_the_bridge(next_method)) return;  // nothing else can come before its answer
  conversation_.queue(json::make_request(peeked_id, "bridge/notifications", R"({"limit":1})"));
}

/// Only who says so is asked what the server wants to know. A request to the bridge alone needs
/// nobody, and whoever makes it only looks on.
void Dialogue::announce_answers(std::string_view next_method) {
  if (is_for_the_bridge(next_method) || !std::exchange(announce_answers_, false)) return;
  conversation_.queue(
      json::make_notification("bridge/answers", R"({"methods":["elicitation/create"]})"));
}

void Dialogue::look_into_the_wait() {
  look_at_.reset();
  conversation_.queue(json::make_request(look_id, "bridge/status", ""));
}

void Dialogue::show_wait(const json::Message& status) {
  if (giving_up_ || !questions_.empty()) return;
  if (const auto hint = describe_wait(status.result)) console_.note(*hint);
}

Answer::Outcome Dialogue::pass_time(Deadline end, int also) { return wait(end, "", also)->outcome; }

std::optional<std::string> Dialogue::leave() {
  conversation_.finish_sending();
  wait(Deadline::earlier(Deadline::after(farewell), deadline_), "");
  if (refused_.empty()) return std::nullopt;
  return refused_;
}

/// Until the answer to `id`, or until the conversation or the time ends.
std::optional<Answer> Dialogue::wait(Deadline deadline, std::string_view id, int also) {
  using Event = Conversation::Event;
  using Outcome = Answer::Outcome;
  for (;;) {
    const Deadline until = look_at_ ? Deadline::earlier(deadline, *look_at_) : deadline;
    switch (conversation_.next(until, questions_.empty() ? also : STDIN_FILENO)) {
      case Event::line:
        if (auto answer = take_line(id)) return answer;
        break;
      case Event::input:
        if (questions_.empty()) return Answer{Outcome::woken, ""};
        take_typed();
        break;
      case Event::output_closed:  // not watched here
      case Event::closed: return Answer{Outcome::hung_up, ""};
      case Event::timed_out:
        if (!look_at_ || deadline.passed()) return Answer{Outcome::timed_out, ""};
        look_into_the_wait();
        break;
      case Event::interrupted: interrupt_.take(); return Answer{Outcome::interrupted, ""};
      case Event::too_long: return Answer{Outcome::too_long, ""};
    }
  }
}

std::optional<Answer> Dialogue::take_line(std::string_view id) {
  const json::Message message = json::parse_message(conversation_.line());
  switch (message.kind) {
    case json::Message::Kind::response: {
      if (message.id == peeked_id) {
        skipping_ring_ = false;
        return std::nullopt;
      }
      if (message.id == look_id) {
        if (!id.empty()) show_wait(message);
        return std::nullopt;
      }
      // An error without an id is about a frame that the daemon could not take: ours.
      const bool is_refusal = message.id == "null" && !message.error.empty();
      if (is_refusal) refused_ = message.error;
      if (id.empty() || (message.id != id && !is_refusal)) return std::nullopt;
      if (!message.error.empty()) {
        return Answer{is_refusal ? Answer::Outcome::refused : Answer::Outcome::error,
                      std::string(message.error)};
      }
      return Answer{Answer::Outcome::result, std::string(message.result)};
    }
    case json::Message::Kind::notification: take_notification(message); break;
    case json::Message::Kind::request: take_request(message); break;
    case json::Message::Kind::invalid:
      console_.note(fmt::format("ignored a line of {} bytes from the daemon: no JSON-RPC message",
                                conversation_.line().size()));
  }
  return std::nullopt;
}

void Dialogue::take_notification(const json::Message& message) {
  if (message.method == "notifications/progress" && console_.error_is_terminal()) {
    if (const auto progress = read_progress(message.params, std::to_string(last_id_))) {
      // A line less than the width: some terminals wrap when the last column is filled.
      const std::size_t width = console_.error_width();
      if (questions_.empty() && !giving_up_)
        console_.draw_transient(draw_progress(*progress, width - 1));
      return;
    }
  }
  if (message.method == "notifications/cancelled" && !questions_.empty()) {
    const auto which = json::member(message.params, "requestId");
    const auto found = std::find_if(questions_.begin(), questions_.end(),
                                    [&](const Question& q) { return which && q.id == *which; });
    if (found != questions_.end()) {
      const bool was_shown = found == questions_.begin();
      questions_.erase(found);
      console_.prompt("\n");
      console_.note("the server has withdrawn its question");
      if (was_shown) show_question();
      return;
    }
  }
  if (!skipping_ring_) console_.pass_on(conversation_.line());
}

void Dialogue::take_request(const json::Message& message) {
  if (message.method == "ping") {
    conversation_.queue(json::make_result(message.id, "{}"));
    return;
  }
  if (message.method == "elicitation/create" && can_ask()) {
    if (auto form = ElicitationForm::from_params(message.params)) {
      questions_.push_back({std::string(message.id), std::move(*form)});
      if (questions_.size() == 1) show_question();
      return;
    }
  }
  const std::string_view why = message.method == "elicitation/create"
                                   ? "there is no terminal to ask at"
                                   : "not supported by mcp-nc";
  conversation_.queue(json::make_error(message.id, method_not_found, why));
}

void Dialogue::show_question() {
  if (!questions_.empty()) console_.prompt(questions_.front().form.begin());
}

/// What was typed at the terminal, which gives whole lines.
void Dialogue::take_typed() {
  std::array<char, 4096> bytes;
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) {
    console_.prompt("\n");
    questions_.front().form.end_of_input();
    return after_typing();
  }
  typed_.append(bytes.data(), static_cast<std::size_t>(count));
  std::size_t end = typed_.find('\n');
  for (; end != std::string::npos && !questions_.empty(); end = typed_.find('\n')) {
    const std::string line = typed_.substr(0, end);
    typed_.erase(0, end + 1);
    console_.prompt(questions_.front().form.take(line));
    after_typing();
  }
}

void Dialogue::after_typing() {
  Question& question = questions_.front();
  if (!question.form.done()) return;
  conversation_.queue(json::make_result(question.id, question.form.result()));
  questions_.pop_front();
  show_question();
}

void Dialogue::give_up(std::string_view id, std::string_view method, std::string_view reason) {
  if (is_for_the_bridge(method)) return;
  giving_up_ = true;
  tell("notifications/cancelled",
       fmt::format(R"({{"requestId":{},"reason":{}}})", id, json::quote(reason)));
  conversation_.finish_sending();
  wait(Deadline::after(farewell_), "");
}

ExitCode Dialogue::report(const Answer& answer) {
  switch (answer.outcome) {
    case Answer::Outcome::error:
      console_.note(describe_error(answer.payload));
      return exit_code_for_error(answer.payload);
    case Answer::Outcome::refused:
      console_.note(describe_refused_line(answer.payload));
      return ExitCode::answered_error;
    case Answer::Outcome::timed_out:
      console_.note("no answer in time; the request was cancelled (-w sets the limit)");
      return ExitCode::timed_out;
    case Answer::Outcome::interrupted:
      return interrupt_.take() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
    case Answer::Outcome::too_long:
      console_.note(fmt::format("the daemon sent a message of more than {} MiB; gave up",
                                Conversation::longest_line >> 20));
      return ExitCode::unreachable;
    case Answer::Outcome::hung_up:
    case Answer::Outcome::woken:
    case Answer::Outcome::result: break;
  }
  console_.note("the daemon closed the connection before it answered: " + describe_hang_up(path_));
  return ExitCode::unreachable;
}

}  // namespace client
