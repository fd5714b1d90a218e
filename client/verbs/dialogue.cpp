#include "verbs/dialogue.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <csignal>

#include "base/contains.hpp"
#include "command_line/verb.hpp"
#include "render/lines.hpp"
#include "servers/instance.hpp"
#include "text/shell_word.hpp"

namespace client {
namespace {

/// Id of a request whose response shows that the daemon has read bridge/peek: all that it wrote
/// from its ring before that has been received by then.
constexpr std::string_view peeked_id = "\"peeked\"";

/// Id of the request that asks what another one is waiting for.
constexpr std::string_view look_id = "\"look\"";

constexpr std::string_view method_not_found_code = "-32601";

/// Before an option that a login needs, and that mcp-nc has as well (how_to_log_in_with() of the
/// daemon).
constexpr std::string_view with_option = "start mcp-bridged with ";

constexpr std::string_view hint_of_job =
    "the server asked a question; make the call with: mcp-nc call --detach, then answer with: "
    "mcp-nc answer JOB key=value";

/// The command line's call as a job; "" for any other verb.
std::string detached_call(const Options& options) {
  if (options.verb == nullptr || options.verb->name() != "call" || is_job(options)) return {};
  std::string words = typed_program(options) + " call --detach";
  for (const std::string& word : options.operands) words += " " + bridge::shell_word(word);
  return words;
}

/// Replaces what is from `begin` to `end`, with both, after `from`. Returns where that ended; npos
/// if it is not there.
std::size_t replace_part(std::string& text, std::string_view begin, std::string_view end,
                         const std::string& with, std::size_t from = 0) {
  const std::size_t at = text.find(begin, from);
  const std::size_t to = text.find(end, at);
  if (to == text.npos) return to;
  text.replace(at, to + end.size() - at, with);
  return at + with.size();
}

}  // namespace

void Dialogue::announce(std::string_view method, bool is_request) {
  const bool is_for_us = is_for_the_bridge(method);
  if (ring_ == Ring::to_be_left) {
    ring_ = Ring::being_left;
    conversation_.queue(bridge::own_notification("bridge/peek", ""));
    // A response to a request to the bridge always comes after that.
    if (!is_for_us)
      conversation_.queue(bridge::own_request(peeked_id, "bridge/notifications", R"({"limit":1})"));
  }
  // A client is asked the server's questions only after it has declared so. A request to the bridge
  // alone needs no answers, and its client remains an observer.
  if (!is_request || is_for_us || std::exchange(has_announced_, true)) return;
  json::JsonArray methods;
  if (can_ask()) methods.add("elicitation/create");
  if (answers_roots()) methods.add("roots/list");
  if (methods.is_empty()) return;
  tell("bridge/answers", json::JsonObject().add("methods", methods).text());
}

void tell_notification(Console& console, std::string_view line) {
  const json::Message message = json::parse_message(line);
  // A person must see what to do, even if stderr is not a terminal.
  const bool is_ours = message.method == "notifications/bridge/question_refused";
  if ((console.error_is_terminal() || is_ours) &&
      message.kind == json::Message::Kind::notification) {
    console.note(notification_line(message));
  } else {
    console.pass_on(line);
  }
}

Dialogue::Dialogue(Connected connected, const Options& options, Deadline deadline, bool keep,
                   Console& console, Interrupt& interrupt)
    : path_(std::move(connected.path)),
      trusted_(connected.trusted),
      console_(console),
      interrupt_(interrupt),
      conversation_(std::move(connected.daemon), interrupt.descriptor()),
      options_(options),
      farewell_(options.names ? Milliseconds(0) : farewell),
      deadline_(deadline),
      ring_(keep ? Ring::to_be_left : Ring::taken),
      questions_(console, [this](const std::string& id, const ElicitationForm& form) {
        take_typed(id, form);
      }) {
  use_grant(deadline_);
}

[[gnu::cold]] bool Dialogue::use_grant(Deadline until) {
  using Event = Conversation::Event;
  using Outcome = Answer::Outcome;
  grant_refusal_.reset();
  const auto use = client::use_grant(conversation_, until);
  if (!use || use->is_accepted) return true;
  Answer& refusal = grant_refusal_.emplace();
  if (use->end == Event::line) {
    const json::Message response = json::parse_message(use->response);
    refusal.outcome = response.id == "null" ? Outcome::refused : Outcome::error;
    refusal.payload = response.error;
    refusal.from_daemon = true;
  }
  if (use->end == Event::timed_out) refusal.outcome = Outcome::timed_out;
  if (use->end == Event::interrupted) refusal.outcome = Outcome::interrupted;
  if (use->end == Event::too_long) refusal.outcome = Outcome::too_long;
  // The daemon sends these to no other client.
  while (conversation_.next(Deadline::after(Milliseconds(0))) == Event::line) {
    const json::Message message = json::parse_message(conversation_.line());
    if (message.kind == json::Message::Kind::notification) take_notification(message);
  }
  return false;
}

std::string Dialogue::send(std::string_view method, std::string_view params) {
  std::string id = std::to_string(++last_id_);
  announce(method, true);
  conversation_.queue(bridge::own_request(id, method, params));
  // The response about a tool may be the server's.
  if (is_for_the_bridge(method) && method != "bridge/tool") asked_of_daemon_.push_back(id);
  return id;
}

Answer Dialogue::await(const Ids& ids, Deadline until, int also) {
  Answer answer = wait(until, ids, also);
  console_.clear_transient();
  return answer;
}

void Dialogue::note_trouble(const std::string& what) {
  if (std::exchange(trouble_, what) != what) console_.note(what);
}

Answer::Outcome Dialogue::reconnect(std::optional<Deadline> whatever_fails) {
  using Outcome = Answer::Outcome;
  constexpr Milliseconds longest_pause{1000};
  constexpr Milliseconds longest_wait{60000};
  console_.clear_transient();
  note_trouble("the daemon closed the connection; waiting until it runs again");
  const Deadline until = whatever_fails     ? *whatever_fails
                         : options_.timeout ? deadline_
                                            : Deadline::after(longest_wait);
  while (!until.passed()) {
    pollfd interrupt = {interrupt_.descriptor(), POLLIN, 0};
    const Milliseconds pause = std::min(reconnect_pause_, until.left());
    if (::poll(&interrupt, 1, static_cast<int>(pause.count())) > 0) return Outcome::interrupted;
    reconnect_pause_ = std::min(reconnect_pause_ * 2, longest_pause);
    auto again = connect_to_daemon({path_}, trusted_, Milliseconds(0),
                                   Deadline::earlier(until, Deadline::after(longest_pause)));
    if (auto* connected = std::get_if<Connected>(&again)) {
      conversation_ = Conversation(std::move(connected->daemon), interrupt_.descriptor());
      if (!use_grant(until)) {
        if (grant_refusal_->outcome == Outcome::hung_up) continue;
        return grant_refusal_->outcome;
      }
      if (whatever_fails || ring_ != Ring::taken) ring_ = Ring::to_be_left;
      has_announced_ = false;
      asked_of_daemon_.clear();
      return Outcome::result;
    }
    const auto& failure = std::get<ConnectFailure>(again);
    if (!failure.is_absent && !failure.timed_out) {
      note_trouble(failure.message);
      if (!whatever_fails) return Outcome::hung_up;
    }
  }
  return options_.timeout ? Outcome::timed_out : Outcome::hung_up;
}

Answer Dialogue::ask(std::string_view method, std::string_view params) {
  std::string of_another;
  if (!options_.as.empty() && (method == "tools/list" || method == "bridge/tool")) {
    // The daemon answers what that user would see, with the members of the list or of the tool.
    of_another =
        json::JsonObject()
            .add("as", json::RawJson{describe_peer(options_.as)})
            .add_unless_empty("name", json::RawJson{json::find_member(params, "name").value_or("")})
            .text();
    method = "bridge/tool";
    params = of_another;
  }
  const std::string id = send(method, params);
  if (!is_for_the_bridge(method) || method == "bridge/tool") look_soon();
  Answer answer = wait(deadline_, {id});
  look_at_.reset();
  console_.clear_transient();
  answer.method = method;
  const bool is_interrupted = answer.outcome == Answer::Outcome::interrupted;
  if (answer.outcome != Answer::Outcome::timed_out && !is_interrupted) return answer;
  const bool is_known = ask_why_waiting();
  give_up(id, method, is_interrupted ? "interrupted" : "timed out");
  const bool is_before_call = method == "bridge/tool";
  if (!is_interrupted || (is_for_the_bridge(method) && !is_before_call)) return answer;
  say_when_given_up(!why_waiting_.empty() ? "the server did not get the request: " + why_waiting_
                    : is_before_call      ? "the call was not sent"
                    : is_known            ? "the server was told to stop"
                                          : "the server could not be told to stop");
  return answer;
}

bool Dialogue::await_roots(Deadline until) {
  awaits_roots_ = true;
  const bool has_asked = wait(until, {}).outcome == Answer::Outcome::woken;
  awaits_roots_ = false;
  return has_asked;
}

void Dialogue::tell(std::string_view method, std::string_view params) {
  announce(method, false);
  conversation_.queue(bridge::own_notification(method, params));
}

bool Dialogue::ask_here(std::string id, std::string_view params) {
  auto form = ElicitationForm::from_params(params, ElicitationForm::EndOfInput::leaves);
  if (!form) return false;
  questions_.ask(std::move(id), std::move(*form));
  return true;
}

void Dialogue::take_typed(const std::string& id, const ElicitationForm& form) {
  if (form.was_left()) {
    typed_.push_back({Answer::Outcome::woken, "", id});
  } else if (json::is_json(id)) {
    conversation_.queue(bridge::result_reply(id, form.result()));
  } else {
    typed_.push_back({Answer::Outcome::result, form.result(), id});
  }
}

void Dialogue::look_into_the_wait() {
  look_at_.reset();
  conversation_.queue(bridge::own_request(look_id, "bridge/status", ""));
}

/// False if the daemon does not respond at once: the reason stays unknown.
bool Dialogue::ask_why_waiting() {
  if (farewell_.count() == 0) return false;
  look_into_the_wait();
  const Answer status = wait(Deadline::after(farewell_), {std::string(look_id)});
  if (!status.ok()) return false;
  why_waiting_ = reason_of_wait(status.payload).value_or("");
  if (failure_of_wait(status.payload)) kind_of_wait_ = kind_of_last_error(status.payload);
  return true;
}

void Dialogue::show_wait(const json::Message& status) {
  if (giving_up_ || !questions_.empty()) return;
  const auto reason = reason_of_wait(status.result);
  // Without a terminal only a failure is printed, and one may still occur.
  const bool is_told = console_.error_is_terminal() || failure_of_wait(status.result) == reason;
  if (reason && is_told)
    console_.note(fmt::format("still waiting: {}{}", *reason,
                              console_.error_is_terminal() ? "; ^C to stop" : ""));
  if (!is_told) look_soon();
}

std::optional<std::string> Dialogue::leave() {
  // Nothing that is still heard ends this wait.
  if (hear_) {
    hear_ = [take = std::move(hear_)](std::string_view line) {
      take(line);
      return false;
    };
  }
  conversation_.finish_sending();
  wait(Deadline::earlier(Deadline::after(farewell), deadline_), {});
  if (refused_.empty()) return std::nullopt;
  return refused_;
}

/// Until the response to one of these, or until the conversation ends or the time is over.
Answer Dialogue::wait(Deadline deadline, const Ids& ids, int also) {
  using Event = Conversation::Event;
  using Outcome = Answer::Outcome;
  for (;;) {
    if (!typed_.empty()) {
      Answer first = std::move(typed_.front());
      typed_.erase(typed_.begin());
      return first;
    }
    const Deadline until = look_at_ ? Deadline::earlier(deadline, *look_at_) : deadline;
    switch (conversation_.next(until, questions_.empty() ? also : STDIN_FILENO)) {
      case Event::line:
        if (auto answer = take_line(ids)) return std::move(*answer);
        break;
      case Event::input:
        if (questions_.empty()) return Answer{Outcome::woken, ""};
        questions_.take_typed();
        break;
      case Event::output_closed: return Answer{Outcome::woken, ""};
      case Event::closed: return Answer{Outcome::hung_up, ""};
      case Event::timed_out:
        if (!look_at_ || deadline.passed()) return Answer{Outcome::timed_out, ""};
        look_into_the_wait();
        break;
      case Event::interrupted:
        if (interrupt_.take() == SIGINT) console_.end_echo();
        return Answer{Outcome::interrupted, ""};
      case Event::too_long: return Answer{Outcome::too_long, ""};
    }
  }
}

std::optional<Answer> Dialogue::take_line(const Ids& ids) {
  const json::Message message = json::parse_message(conversation_.line());
  switch (message.kind) {
    case json::Message::Kind::response: {
      if (message.id == peeked_id) {
        ring_ = Ring::taken;
        return std::nullopt;
      }
      const bool is_awaited = bridge::contains(ids, message.id);
      if (message.id == look_id && !is_awaited) {
        if (!ids.empty()) show_wait(message);
        return std::nullopt;
      }
      // An error without an id is about a frame that the daemon refused: one of ours.
      const bool is_refusal = message.id == "null" && !message.error.empty();
      if (is_refusal) refused_ = message.error;
      if (!is_awaited && (!is_refusal || ids.empty())) return std::nullopt;
      std::string id(message.id);
      const bool from_daemon = std::erase(asked_of_daemon_, id) > 0;
      if (!message.error.empty()) {
        return Answer{is_refusal ? Answer::Outcome::refused : Answer::Outcome::error,
                      std::string(message.error), std::move(id), from_daemon};
      }
      if (!std::exchange(trouble_, {}).empty()) console_.note("the daemon answers again");
      return Answer{Answer::Outcome::result, std::string(message.result), std::move(id)};
    }
    case json::Message::Kind::notification:
      if (!hear_) take_notification(message);
      if (hear_ && hear_(conversation_.line())) return Answer{Answer::Outcome::woken, ""};
      break;
    case json::Message::Kind::request:
      take_request(message);
      if (awaits_roots_ && message.method == "roots/list")
        return Answer{Answer::Outcome::woken, ""};
      break;
    case json::Message::Kind::invalid:
      console_.note(
          fmt::format("ignored a line of {} bytes from the daemon: not a JSON-RPC message",
                      conversation_.line().size()));
  }
  return std::nullopt;
}

void Dialogue::take_notification(const json::Message& message) {
  if (message.method == "notifications/progress" && console_.error_is_terminal()) {
    if (const auto progress = read_progress(message.params, std::to_string(last_id_))) {
      // One column less than the width: some terminals wrap when the last column is filled.
      const std::size_t width = console_.error_width();
      if (questions_.empty() && !giving_up_)
        console_.draw_transient(draw_progress(*progress, width - 1));
      return;
    }
  }
  if (message.method == "notifications/cancelled" && questions_.withdraw(message)) return;
  if (message.method == "notifications/bridge/question_about") return note_caller(message);
  if (message.method == "notifications/bridge/question_refused" &&
      json::string_member(message.params, "method") == "elicitation/create")
    hint_ = hint_of_job;
  if (ring_ != Ring::taken) return;
  // A server may repeat that a list has changed: a person is told once.
  const bool is_change = message.method.ends_with("/list_changed") && console_.error_is_terminal();
  if (is_change && std::exchange(reported_change_, message.method) == message.method) return;
  if (!is_change) reported_change_.clear();
  tell_notification(console_, conversation_.line());
  const std::string command = hint_ == hint_of_job ? detached_call(options_) : std::string();
  if (!command.empty())
    console_.note(fmt::format("to answer it, type: {}, then: {} answer JOB key=value", command,
                              typed_program(options_)));
}

void Dialogue::note_caller(const json::Message& message) {
  foreign_ = json::find_member(message.params, "requestId").value_or("");
  foreign_caller_ = json::string_member(message.params, "caller") == "another"
                        ? ElicitationForm::Caller::another
                        : ElicitationForm::Caller::unknown;
}

void Dialogue::take_request(const json::Message& message) {
  const std::string result = message.method == "ping"         ? "{}"
                             : message.method == "roots/list" ? roots_
                                                              : "";
  if (!result.empty()) return conversation_.queue(bridge::result_reply(message.id, result));
  if (message.method == "elicitation/create" && can_ask()) {
    const auto caller = message.id == foreign_ ? foreign_caller_ : ElicitationForm::Caller::own;
    if (auto form = ElicitationForm::from_params(message.params,
                                                 ElicitationForm::EndOfInput::cancels, caller)) {
      return questions_.ask(std::string(message.id), std::move(*form));
    }
  }
  const std::string_view why =
      message.method == "elicitation/create" ? "no terminal to ask at" : "not supported by mcp-nc";
  conversation_.queue(bridge::error_reply(message.id, method_not_found, why));
}

void Dialogue::give_up(std::string_view id, std::string_view method, std::string_view reason) {
  if (is_for_the_bridge(method)) return;
  giving_up_ = true;
  tell("notifications/cancelled",
       json::JsonObject().add("requestId", json::RawJson{id}).add("reason", reason).text());
  // Not every server withdraws its question when the related request is cancelled: the next client
  // at a terminal would be asked.
  for (const std::string& question : questions_.dismiss()) {
    if (json::is_json(question))
      conversation_.queue(bridge::result_reply(question, R"({"action":"cancel"})"));
  }
  conversation_.finish_sending();
  wait(Deadline::after(farewell_), {});
}

/// The daemon does not know how its client names it, nor that a server by name gets its token by
/// options of mcp-nc: makes its advice one that can be copied.
void Dialogue::name_login(Failure& failure) const {
  const std::string program = typed_program(options_);
  const bool is_ours = !options_.server.empty() || !options_.url.empty();
  const std::string token =
      fmt::format("give it its token: {} --token-file FILE, {}", program,
                  options_.url.empty() ? "or headers in the file that names it"
                                       : "--header 'NAME: VALUE' or MCP_SERVER_TOKEN");
  for (std::string* const text : {&failure.message, &failure.shown, &failure.hint}) {
    const std::size_t option = text->find(with_option);
    const std::size_t end = text->find(" (a service: ", option);
    if (is_ours && end != text->npos) {
      const std::size_t begin = option + with_option.size();
      replace_part(*text, with_option, " login",
                   fmt::format("type: {} {} login", program, text->substr(begin, end - begin)));
      continue;
    }
    if (is_ours) replace_part(*text, token_advice, token_advice_end, token);
    for (std::size_t at = 0; at != text->npos;)
      at = replace_part(*text, "mcp-nc ", " login", program + " login", at);
  }
  if (failure.wants_login) failure.hint = fmt::format("log in with: {} login", program);
}

Failure Dialogue::failure_of(const Answer& answer, const std::string& about) {
  Failure failure{.kind = "daemon",
                  .message = "the daemon closed the connection before it answered",
                  .code = ExitCode::unreachable,
                  .delivered = "unknown"};
  const std::string given_up =
      when_given_up_.empty() ? "the request was cancelled" : when_given_up_;
  switch (answer.outcome) {
    case Answer::Outcome::error:
      failure = answer.from_daemon ? read_daemon_error(answer.payload) : read_error(answer.payload);
      if (failure.kind == "server" && failure.error_code == method_not_found_code &&
          !answer.method.empty())
        failure.shown = fmt::format("the server does not support '{}'", answer.method);
      if (failure.kind == "job" && answer.payload.find("there is no such job") != std::string::npos)
        failure.shown = fmt::format(
            "no job '{}'; list them with: mcp-nc jobs",
            about.empty() && !options_.operands.empty() ? options_.operands.front() : about);
      break;
    case Answer::Outcome::refused:
      failure = read_error(answer.payload);
      failure.kind = "daemon";
      failure.delivered = "no";
      failure.code = ExitCode::answered_error;
      failure.shown = fmt::format("the daemon refused the request: {}", failure.message);
      break;
    case Answer::Outcome::timed_out:
      failure.kind = "timeout";
      failure.message = why_waiting_.empty() ? "" : why_waiting_ + "; ";
      failure.message += fmt::format("{}; {}", timed_out_after(options_), given_up);
      failure.code = ExitCode::timed_out;
      if (kind_of_wait_.empty()) break;
      failure.kind = kind_of_wait_;
      failure.code = ExitCode::upstream;
      failure.delivered = "no";
      break;
    case Answer::Outcome::interrupted:
      failure.kind = "interrupted";
      failure.message = "interrupted; " + given_up;
      // Who has interrupted a request that does nothing more knows that.
      if (!when_given_up_.empty()) failure.shown = failure.message;
      failure.code = interrupt_.take() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
      break;
    case Answer::Outcome::too_long:
      failure.kind = "too_large";
      failure.message = fmt::format("the daemon sent a message of more than {} MiB",
                                    Conversation::longest_line >> 20);
      break;
    case Answer::Outcome::result:
      failure.message = "cannot read the daemon's response";
      failure.shown = failure.message + ": " + answer.payload;
      failure.code = ExitCode::answered_error;
      break;
    case Answer::Outcome::hung_up:
    case Answer::Outcome::woken: {
      const pid_t process = process_behind(conversation_.descriptor());
      if (const auto why = why_not_started(path_, process)) {
        failure.delivered = "no";
        failure.message = fmt::format("the daemon could not start: {}", *why);
        failure.hint = "see what it starts with: mcp-nc servers";
      } else {
        failure.shown = fmt::format("{}: {}", failure.message, describe_end(path_, process));
      }
    }
  }
  if (failure.kind == "auth") name_login(failure);
  if (failure.hint.empty()) failure.hint = hint_;
  return failure;
}

ExitCode Dialogue::report(const Answer& answer, const std::string& about) {
  const Failure failure = failure_of(answer, about);
  if (answer.outcome == Answer::Outcome::error) wants_login_ = failure.wants_login;
  return tell_failure(console_, options_, failure);
}

}  // namespace client
