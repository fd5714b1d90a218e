#pragma once

#include "connection/connect.hpp"
#include "render/failure.hpp"
#include "render/status.hpp"
#include "system/signals.hpp"
#include "verbs/questions.hpp"

namespace client {

/// JSON-RPC 2.0, section 5.1: the response to a question that this client does not answer.
constexpr int method_not_found = -32601;
/// The time for sending the last message before the end.
constexpr Milliseconds farewell{500};

inline bool is_for_the_bridge(std::string_view method) { return method.starts_with("bridge/"); }

/// Prints a notification that is not the requested result to stderr: in words on a terminal,
/// elsewhere the line as received.
void tell_notification(Console& console, std::string_view line);

/// How a request ended.
struct Answer {
  enum class Outcome {
    result,
    error,
    refused,  ///< the daemon refused our line: its own error, without a request's id
    hung_up,
    timed_out,
    interrupted,
    too_long,
    woken,
  };

  Outcome outcome = Outcome::hung_up;
  std::string payload;       ///< the JSON of the result or of the error, as received
  std::string id{};          ///< of the request, if several are pending
  bool from_daemon = false;  ///< the daemon's own error, for a request to the daemon
  std::string method{};      ///< of the request, if made by ask()

  bool ok() const { return outcome == Outcome::result; }
  /// The response may still come: the user or the time limit has ended the wait for it.
  bool was_given_up() const {
    return outcome == Outcome::timed_out || outcome == Outcome::interrupted;
  }
};

/// The requests of one verb over one connection, one at a time, and everything that arrives
/// meanwhile: notifications go to stderr, progress is drawn, questions of the server are asked at
/// the terminal or refused. At a terminal the daemon is told that questions are answered here. If
/// there is no response after a second the reason is looked up: at a terminal it is printed once;
/// elsewhere only the reason why the server is unreachable.
///
/// Does not send initialize: the daemon serves frames without a handshake.
class Dialogue {
 public:
  /// `options` outlive this. `keep`: the daemon's notifications stay in its ring (bridge/peek is
  /// sent first). `deadline` is for all requests together, until restart_time_limit().
  Dialogue(Connected connected, const Options& options, Deadline deadline, bool keep,
           Console& console, Interrupt& interrupt);

  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  Console& console() { return console_; }
  /// Of the daemon's socket.
  const std::string& path() const { return path_; }

  /// `params` is JSON or empty. On a timeout or a signal the request is cancelled at the server.
  Answer ask(std::string_view method, std::string_view params);

  /// The `_meta` with which the next request asks for progress notifications.
  json::JsonObject progress_token() const {
    return json::JsonObject().add("progressToken", last_id_ + 1);
  }

  /// Queues a request whose response await() returns. Returns its id.
  std::string send(std::string_view method, std::string_view params);

  /// The first response to one of these requests or questions (their ids). At the deadline or after
  /// a signal the server is not told. Woken when `also` becomes readable, a descriptor or -1.
  Answer await(const std::vector<std::string>& ids, Deadline until, int also = -1);

  /// While a command of --exec runs, nothing would be answered.
  bool can_ask() const { return console_.can_ask() && options_.exec.empty(); }

  /// Asks a question that came in a response (the params of an elicitation/create) at the terminal:
  /// await() returns the input under `id` as the result of the elicitation, or `woken` if it was
  /// postponed. False if it has no form. REQUIRES: can_ask(); `id` is not valid JSON, which tells
  /// it from the ids of the server's questions.
  bool ask_here(std::string id, std::string_view params);

  /// From now on the reason for a wait of more than a second is looked up.
  void look_soon() { look_at_ = Deadline::after(waiting_timeout); }

  /// What an interrupt or the end of the time means for what was begun, for a person: reported with
  /// it.
  void say_when_given_up(std::string text) { when_given_up_ = std::move(text); }

  /// Sends what precedes the first request to the server now: that questions are answered here. For
  /// verbs that send a request to the bridge first.
  void introduce() { announce("tools/call", true); }

  /// The response to `roots/list` from now on, JSON. REQUIRES: nothing was sent yet.
  void answer_roots(std::string result) { roots_ = std::move(result); }
  bool answers_roots() const { return !roots_.empty(); }
  /// Waits for the server to request them. False if it did not.
  bool await_roots(Deadline until);

  void tell(std::string_view method, std::string_view params);

  /// From now on `take` gets each notification, as received; true ends the wait with woken. Null:
  /// they are shown again. What `take` refers to outlives hear(nullptr).
  void hear(std::function<bool(std::string_view line)> take) { hear_ = std::move(take); }
  /// From now on a wait ends when the reader of stdout is gone.
  void watch_output() { conversation_.watch_output(STDOUT_FILENO); }
  /// Half-closes: the daemon then closes once it has nothing more to send.
  void finish_sending() { conversation_.finish_sending(); }
  /// To poll for POLLIN: readable after a signal, which ends the work.
  int interrupt() const { return interrupt_.descriptor(); }

  /// Handles messages until then. The outcome is timed_out unless something ended it, woken when
  /// `also` became readable, a descriptor or -1.
  Answer::Outcome pass_time(Deadline end, int also = -1) { return wait(end, {}, also).outcome; }

  /// Reads what the daemon still sends after we have finished, so that no notification is lost with
  /// the connection. Returns the first error that is not a response to a request.
  std::optional<std::string> leave();

  /// After the daemon has hung up: connects to its successor, within the command line's time
  /// limit or 60 s, or until a given time `whatever_fails` (REQUIRES: `keep`). Earlier requests are
  /// not sent again. The outcome is result if there is a connection.
  Answer::Outcome reconnect(std::optional<Deadline> whatever_fails = {});
  /// Why the grant in MCP_NC_GRANT cannot be used; then nothing may be asked, and reconnect() had
  /// this outcome. Null: it is used, or there is none.
  const Answer* grant_refusal() const { return grant_refusal_ ? &*grant_refusal_ : nullptr; }
  /// Prints what is wrong, unless that was printed last. The next result ends it, which is printed,
  /// too.
  void note_trouble(const std::string& what);

  /// The time limit of the command line.
  Deadline deadline() const { return deadline_; }
  void restart_time_limit() { deadline_ = Deadline::after(options_.timeout); }

  /// Reports the failure on stderr (with the job: `about`), and with --json on stdout too.
  /// REQUIRES: the outcome is not result.
  ExitCode report(const Answer& answer, const std::string& about = {});
  Failure failure_of(const Answer& answer, const std::string& about = {});
  /// Whether a login would have prevented the failure reported last.
  bool wants_login() const { return wants_login_; }
  /// Advice about a failure, such as a question that could not be answered here; "" if there is
  /// none.
  std::string_view hint() const { return hint_; }
  /// REQUIRES: it outlives this.
  void advise(std::string_view hint) { hint_ = hint; }

 private:
  using Ids = std::vector<std::string>;

  /// Queues what must precede a message of this method: that our ring stays untouched
  /// (bridge/peek), and that questions of the server are answered here (bridge/answers).
  void announce(std::string_view method, bool is_request);
  bool use_grant(Deadline until);
  Answer wait(Deadline deadline, const Ids& ids, int also = -1);
  std::optional<Answer> take_line(const Ids& ids);
  void take_notification(const json::Message& message);
  void note_caller(const json::Message& message);
  void take_request(const json::Message& message);
  void take_typed(const std::string& id, const ElicitationForm& form);
  void look_into_the_wait();
  bool ask_why_waiting();
  void show_wait(const json::Message& status);
  void give_up(std::string_view id, std::string_view method, std::string_view reason);
  void name_login(Failure& failure) const;

  std::string path_;  // of the socket
  TrustedPeer trusted_;
  Milliseconds reconnect_pause_{100};  // doubled with each attempt, up to a second
  Console& console_;
  Interrupt& interrupt_;
  Conversation conversation_;
  const Options& options_;
  std::string why_waiting_;   // what the request that timed out was waiting for, "" = unknown
  std::string kind_of_wait_;  // if that is a failure: its kind
  std::string when_given_up_;
  Milliseconds farewell_;  // 0 with --names: a shell's completion must not wait
  Deadline deadline_;
  // Until the daemon has read bridge/peek it sends us its ring, as to any new client. All of that
  // stays in the ring, so it is not shown.
  enum class Ring {
    taken,       // or left, and the daemon knows
    to_be_left,  // not sent yet
    being_left,  // sent, but perhaps not read
  };
  Ring ring_;
  bool has_announced_ = false;  // what is answered here
  TerminalQuestions questions_;
  std::vector<Answer> typed_;  // to ask_here(), not returned yet
  bool giving_up_ = false;
  bool wants_login_ = false;
  std::optional<Deadline> look_at_;  // when to look up the reason for a pending request
  std::string roots_;                // "" = not answered here
  bool awaits_roots_ = false;        // a request for them ends the wait
  unsigned long last_id_ = 0;
  std::vector<std::string> asked_of_daemon_;  // ids of requests that it answers itself
  std::string_view hint_;
  std::string reported_change_;  // the method of the notification told last, if that was of a list
  // The question, by its id, of which we were told last that it may be about another's call.
  std::string foreign_;
  ElicitationForm::Caller foreign_caller_ = ElicitationForm::Caller::own;
  std::string refused_;  // the last error without an id
  std::optional<Answer> grant_refusal_;
  std::string trouble_;  // printed last, and not over
  std::function<bool(std::string_view line)> hear_;
};

}  // namespace client
