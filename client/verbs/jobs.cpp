#include "verbs/jobs.hpp"

#include <fmt/format.h>

#include <set>

#include "render/content.hpp"
#include "render/table.hpp"
#include "text/visible_text.hpp"
#include "verbs/job_messages.hpp"
#include "verbs/operands.hpp"

namespace client {
namespace {

/// How much longer than the requested wait the daemon may take to say that nothing came. A result
/// that comes at the last moment must not be lost.
constexpr Milliseconds grace{5000};

/// The event that ended a wait for jobs.
struct JobEvent {
  enum class Kind {
    ended,    ///< `collected` has the result; no longer waited for
    asks,     ///< its question cannot be answered here; no longer waited for
    failed,   ///< `answer` is the daemon's error about it; no longer waited for
    time_up,  ///< the time for the wait is over
    stopped,  ///< `answer` has the reason why everything ended
  };

  Kind kind = Kind::stopped;
  std::string job{};
  CollectedJob collected{};
  Answer answer{};
};

/// Waits for jobs, all at the same time over one connection. Their questions are asked at the
/// terminal if there is one, one after the other.
class JobWaits {
 public:
  struct Manner {
    std::optional<Milliseconds> time;  ///< for all jobs together
    bool keep = true;                  ///< leave collected results in the daemon
    bool several = false;              ///< more than one job: questions name theirs
    bool only_now = false;             ///< do not wait for a running job
    bool reconnects = false;           ///< to the successor of a daemon that hangs up
  };

  JobWaits(Dialogue& dialogue, Manner manner) : dialogue_(dialogue), manner_(manner) {
    if (manner.time) {
      end_ = Deadline::after(*manner.time);
      patience_ = Deadline::after(*manner.time + grace);
    }
    dialogue.look_soon();
  }

  /// REQUIRES: no more jobs than the daemon lets one connection wait for, 64. Adding a job twice
  /// has no effect.
  void add(const std::string& job) {
    const auto is_it = [&job](const Pending& one) { return one.job == job; };
    if (std::any_of(pending_.begin(), pending_.end(), is_it)) return;
    pending_.push_back({job, Step::collecting, ""});
    collect(pending_.back());
  }

  bool empty() const { return pending_.empty(); }

  /// REQUIRES: not empty().
  JobEvent next() {
    for (;;) {
      std::vector<std::string> ids;
      for (const Pending& one : pending_) ids.push_back(one.id);
      const Answer answer = dialogue_.await(ids, until());
      const auto found = std::find(ids.begin(), ids.end(), answer.id);
      if (answer.outcome == Answer::Outcome::hung_up && manner_.reconnects) {
        const Answer::Outcome outcome = dialogue_.reconnect();
        if (outcome != Answer::Outcome::result) {
          const Answer* const refusal = dialogue_.grant_refusal();
          return {JobEvent::Kind::stopped, "", {}, refusal ? *refusal : Answer{outcome, ""}};
        }
        for (Pending& one : pending_) {
          if (one.step != Step::asking) collect(one);
        }
        continue;
      }
      if (found == ids.end()) {
        if (is_asking()) dialogue_.console().prompt("\n");  // the cursor is after a question
        const bool is_time_up =
            answer.outcome == Answer::Outcome::timed_out && !dialogue_.deadline().passed();
        return {is_time_up ? JobEvent::Kind::time_up : JobEvent::Kind::stopped, "", {}, answer};
      }
      if (auto event = take(static_cast<std::size_t>(found - ids.begin()), answer)) return *event;
    }
  }

 private:
  enum class Step { collecting, asking, answering };

  struct Pending {
    std::string job;
    Step step = Step::collecting;
    std::string id;  // of the request or of the question
    std::string question_id{};
  };

  void collect(Pending& pending) {
    const Milliseconds left = manner_.only_now ? Milliseconds(0) : end_.left();
    json::JsonObject params = job_object(pending.job);
    params.add("waitMs", longest_wait_ms(left));
    if (!manner_.keep) params.add("keep", false);
    // Only one bar can be drawn.
    if (!manner_.several && dialogue_.console().error_is_terminal())
      params.add("_meta", dialogue_.progress_token());
    pending.step = Step::collecting;
    pending.id = dialogue_.send("bridge/collect", params.text());
  }

  std::optional<JobEvent> take(std::size_t at, const Answer& answer) {
    Pending& pending = pending_[at];
    switch (pending.step) {
      case Step::collecting: return take_collected(at, answer);
      case Step::asking:
        if (!answer.ok()) return end(at, {JobEvent::Kind::asks});
        pending.step = Step::answering;
        pending.id =
            dialogue_.send("bridge/answer", answer_object(pending.job, pending.question_id)
                                                .add("result", json::RawJson{answer.payload})
                                                .text());
        return std::nullopt;
      case Step::answering:
        // Another client was quicker, or the server has stopped asking: read the present state.
        if (answer.outcome == Answer::Outcome::error) {
          dialogue_.console().note("the answer was refused: " +
                                   read_daemon_error(answer.payload).shown);
        }
        collect(pending);
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<JobEvent> take_collected(std::size_t at, const Answer& answer) {
    using Kind = JobEvent::Kind;
    Pending& pending = pending_[at];
    if (!answer.ok()) return end(at, {Kind::failed, "", {}, answer});
    auto collected = read_collected(answer.payload);
    if (!collected) return end(at, {Kind::failed, "", {}, answer});
    switch (collected->phase) {
      case CollectedJob::Phase::working:
        if (manner_.only_now || end_.passed()) return JobEvent{Kind::time_up, pending.job, {}, {}};
        collect(pending);
        return std::nullopt;
      case CollectedJob::Phase::asks: break;
      case CollectedJob::Phase::ended: return end(at, {Kind::ended, "", std::move(*collected), {}});
    }
    if (collected->question_method == "elicitation/create" && dialogue_.can_ask()) {
      if (manner_.several) dialogue_.console().note(fmt::format("job {} asks", pending.job));
      std::string id = "question of " + pending.job;
      if (dialogue_.ask_here(id, collected->question_params)) {
        pending.step = Step::asking;
        pending.id = std::move(id);
        pending.question_id = std::move(collected->question_id);
        return std::nullopt;
      }
    }
    return end(at, {Kind::asks, "", std::move(*collected), {}});
  }

  JobEvent end(std::size_t at, JobEvent event) {
    event.job = std::move(pending_[at].job);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
    return event;
  }

  bool is_asking() const {
    return std::any_of(pending_.begin(), pending_.end(),
                       [](const Pending& one) { return one.step == Step::asking; });
  }

  Deadline until() const {
    return Deadline::earlier(dialogue_.deadline(), is_asking() ? end_ : patience_);
  }

  Dialogue& dialogue_;
  Manner manner_;
  Deadline end_;       // of `time`
  Deadline patience_;  // a little after end_: until then the daemon's own response may come
  std::vector<Pending> pending_;
};

/// Shows a job's question on stderr, and how to answer it; with `for_programs` before that as
/// `{"job":…,"question":{"method":…,"params":…}}` on stdout.
void show_question(Console& console, const Options& options, const std::string& job,
                   const CollectedJob& collected, bool for_programs) {
  json::JsonObject question;
  question.add("method", collected.question_method);
  question.add_unless_empty("params", json::RawJson{collected.question_params});
  if (for_programs) console.print(job_object(job).add("question", question));
  const bool is_elicitation = collected.question_method == "elicitation/create";
  const auto form = is_elicitation ? ElicitationForm::from_params(collected.question_params)
                                   : std::optional<ElicitationForm>();
  if (form) {
    console.note(fmt::format("job {} asks", job));
    console.prompt(form->describe());
  } else if (!collected.question_method.empty()) {
    console.note(fmt::format("job {} asks {} {}", job, collected.question_method,
                             collected.question_params));
  }
  if (form || collected.question_method.empty()) {
    console.note(fmt::format("to answer it, type: {} answer {}{}", typed_program(options), job,
                             form ? form->usage() : ""));
  } else {
    const json::JsonObject answer = job_object(job).add("result", json::RawJson{"..."});
    console.note(fmt::format("to answer it, type: {} request bridge/answer '{}'",
                             typed_program(options), answer.text()));
  }
}

/// Prints the end of a job as `call` prints its result; of several jobs, each under its id.
/// REQUIRES: event.kind is ended.
ExitCode present_end(Dialogue& dialogue, const Options& options, const JobEvent& event,
                     bool several) {
  Console& console = dialogue.console();
  const std::string about = several ? fmt::format("job {}: ", event.job) : std::string();
  const CollectedJob& job = event.collected;
  if (job.result.empty()) {
    Failure error{.kind = "cancelled",
                  .message = "the job was cancelled",
                  .delivered = "unknown",
                  .shown = fmt::format("job {} was cancelled", event.job)};
    if (!job.error.empty()) {
      error = read_error(job.error);
      error.shown.insert(0, about);
    }
    if (options.json)
      console.print(several ? job_object(event.job).add_all(error_object(error))
                            : error_object(error));
    console.note(error.shown);
    console.prompt(error.pages);
    return error.code;
  }
  if (several && options.json) {
    console.print(job_object(event.job).add("result", json::RawJson{job.result}));
    return is_tool_error(job.result) ? ExitCode::answered_error : ExitCode::ok;
  }
  if (several) console.print(event.job + ":\n");
  return present_result(job.result, read_any_result, options, console, about);
}

/// The daemon's answer while the call is given up. Without one the call may go on.
Answer await_last(Dialogue& dialogue, const Options& options, const std::string& id) {
  Answer answer = dialogue.await({id}, Deadline::after(farewell));
  if (answer.was_given_up()) {
    dialogue.say_when_given_up(fmt::format(
        "the daemon does not answer: the call may go on as a job, look for it with: {} jobs",
        typed_program(options)));
  }
  return answer;
}

/// A call that was given up before it was detached is cancelled, as any call is.
void cancel(Dialogue& dialogue, const Options& options, const std::string& job) {
  await_last(dialogue, options, dialogue.send("bridge/cancel", job_object(job).text()));
}

/// The daemon has not returned the job's id yet: the job may have begun.
void cancel_submitted(Dialogue& dialogue, const Options& options, const std::string& submit_id) {
  const Answer late = await_last(dialogue, options, submit_id);
  const auto job = late.ok() ? read_submitted(late.payload) : std::nullopt;
  if (job) cancel(dialogue, options, job->id);
}

/// Warns if a daemon with a state directory failed to save the job. Returns the response to the
/// status request: an interrupt may end the wait for it.
Answer warn_unless_saved(Dialogue& dialogue, const SubmittedJob& job) {
  if (job.durable || job.forgotten) return {Answer::Outcome::result, ""};
  const std::string id = dialogue.send("bridge/status", "{}");
  Answer answer = dialogue.await({id}, dialogue.deadline());
  const auto state = json::find_member(answer.payload, "state");
  if (!state || json::find_member(*state, "durable") != std::optional<std::string_view>("false"))
    return answer;
  dialogue.console().note(
      fmt::format("the job is not saved: {}; its result is lost if the daemon ends",
                  json::string_member(*state, "error")));
  return answer;
}

ExitCode report_event(Dialogue& dialogue, const Options& options, const JobEvent& event,
                      bool several) {
  switch (event.kind) {
    case JobEvent::Kind::ended: return present_end(dialogue, options, event, several);
    case JobEvent::Kind::asks:
      show_question(dialogue.console(), options, event.job, event.collected, options.json);
      return ExitCode::unfinished;
    case JobEvent::Kind::failed: return dialogue.report(event.answer, event.job);
    case JobEvent::Kind::time_up:
    case JobEvent::Kind::stopped: break;
  }
  if (event.answer.outcome != Answer::Outcome::timed_out) return dialogue.report(event.answer);
  // The waiting has ended; the jobs have not.
  return tell_failure(dialogue.console(), options,
                      {"timeout", timed_out_after(options) + "; what was waited for continues",
                       ExitCode::timed_out, "unknown"});
}

/// MCP 2025-11-25, "Sampling: Error Handling": the user has said no.
constexpr std::string_view user_rejected = R"({"code":-1,"message":"User rejected it"})";

/// The response to send; nullopt if there is a reason not to, which was reported.
std::optional<json::JsonObject> choose_answer(Console& console, const Options& options,
                                              const CollectedJob& asking,
                                              const std::vector<Argument>& values) {
  const std::string& job = options.operands[0];
  json::JsonObject answer = answer_object(job, asking.question_id);
  const bool is_elicitation = asking.question_method == "elicitation/create";
  if (options.decline || options.cancel) {
    if (!is_elicitation) return answer.add("error", json::RawJson{user_rejected});
    const std::string_view action = options.decline ? "decline" : "cancel";
    return answer.add("result", json::JsonObject().add("action", action));
  }
  if (!is_elicitation) {
    show_question(console, options, job, asking, options.json);
    return std::nullopt;
  }
  const auto refuse = [&](const std::string& why) {
    tell_failure(console, options, {"usage", why, ExitCode::usage});
    return std::nullopt;
  };
  const auto object = arguments_as_written(values);
  if (const auto* wrong = std::get_if<WrongArguments>(&object))
    return refuse(wrong->problems.front());
  const auto filled = fill_form(asking.question_params, std::get<std::string>(object));
  if (const auto* refusal = std::get_if<FieldRefusal>(&filled)) return refuse(refusal->why);
  return answer.add("result", json::RawJson{std::get<std::string>(filled)});
}

/// One question after the other, until the job asks nothing.
ExitCode answer_here(Dialogue& dialogue, const Options& options) {
  const std::string& job = options.operands[0];
  JobWaits waits(dialogue, {std::nullopt, true, false, true});
  waits.add(job);
  const JobEvent event = waits.next();
  if (event.kind == JobEvent::Kind::stopped) return dialogue.report(event.answer, event.job);
  if (event.kind != JobEvent::Kind::ended && event.kind != JobEvent::Kind::time_up)
    return report_event(dialogue, options, event, false);
  return print_done(dialogue, options, "");
}

/// Only this call receives the result, or the next one with the same key.
ExitCode wait_for_result(Dialogue& dialogue, const Options& options, const std::string& job) {
  Console& console = dialogue.console();
  JobWaits waits(dialogue, {options.detach_after, !options.key.empty(), false, false});
  waits.add(job);
  const JobEvent event = waits.next();
  if (event.kind == JobEvent::Kind::ended || event.kind == JobEvent::Kind::failed)
    return report_event(dialogue, options, event, false);
  if (event.kind == JobEvent::Kind::stopped) {
    if (event.answer.was_given_up()) {
      cancel(dialogue, options, job);
    } else {
      console.note(fmt::format("the call was job {}", job));
    }
    return dialogue.report(event.answer, event.job);
  }
  if (event.kind == JobEvent::Kind::asks) {
    show_question(console, options, job, event.collected, false);
  } else {
    console.note(fmt::format("the call continues as a job; get its result with: {} wait {}",
                             typed_program(options), job));
  }
  console.print_line(options.json ? job_object(job).text() : bridge::make_visible_line(job));
  return ExitCode::unfinished;
}

/// The width of columns for text of any length that a peer chose; --json has all of it.
constexpr std::size_t widest_short_cell = 24;

std::string short_cell(const json::Value* value) {
  return in_columns(plain_cell(value), widest_short_cell);
}

/// How many characters of the ids tell the jobs apart; all of them outside of a terminal.
std::size_t length_of_ids(const std::vector<json::Value>& jobs, const Look& look) {
  constexpr std::size_t least = 8;
  if (look.width == 0) return std::string::npos;
  for (std::size_t length = least;; ++length) {
    std::set<std::string_view> ids;
    bool is_longer = false;
    for (const json::Value& job : jobs) {
      ids.insert(job.string("job").substr(0, length));
      is_longer = is_longer || job.string("job").size() > length;
    }
    if (ids.size() == jobs.size() || !is_longer) return length;
  }
}

}  // namespace

Params check_jobs(const Operands& operands) {
  constexpr std::size_t most_jobs = 64;  // the most that the daemon lets one connection wait for
  if (operands.size() > most_jobs)
    return UsageError{fmt::format("wait takes {} jobs at most", most_jobs)};
  for (const std::string& job : operands) {
    if (auto wrong = wrong_text(job, "JOB")) return *wrong;
  }
  return "";
}

Params check_job(const Operands& operands) { return check_jobs({operands[0]}); }

Params job_params_of(const Operands& operands) {
  if (auto wrong = wrong_text(operands[0], "JOB")) return *wrong;
  return job_object(operands[0]).text();
}

std::vector<StyledLine> render_jobs(const std::vector<json::Value>& jobs, const Look& look) {
  const std::size_t shown = length_of_ids(jobs, look);
  std::vector<std::vector<TableCell>> rows;
  for (const json::Value& job : jobs) {
    const json::Value* const tool = job.find("tool", json::Value::Kind::string);
    rows.push_back({{plain_cell(job.find("job")).substr(0, shown)},
                    {plain_cell(job.find("state")), tone_of_state(job.string("state"))},
                    {duration_text(job, "ageMs"), Tone::faint},
                    {short_cell(tool != nullptr ? tool : job.find("method")), Tone::strong},
                    {size_text(job.count("bytes")), Tone::faint},
                    {short_cell(job.find("key"))},
                    {plain_cell(job.find("pid")), Tone::faint},
                    {plain_cell(job.find("command"))}});
  }
  return render_table("JOB|STATE|>AGE|<CALL|>BYTES|<KEY|>PID|COMMAND", std::move(rows), look);
}

ExitCode call_as_job(Dialogue& dialogue, const Options& options, const std::string& params) {
  const std::string id = dialogue.send("bridge/submit", submit_params(params, options.key));
  const Answer answer = dialogue.await({id}, dialogue.deadline());
  dialogue.say_when_given_up("the job was cancelled");
  if (answer.was_given_up()) cancel_submitted(dialogue, options, id);
  const auto job = answer.ok() ? read_submitted(answer.payload) : std::nullopt;
  if (!job) return dialogue.report(answer);
  Console& console = dialogue.console();
  const Answer asked = warn_unless_saved(dialogue, *job);
  if (options.detach)
    console.print_line(options.json ? answer.payload : bridge::make_visible_line(job->id));
  if (job->forgotten) {
    if (options.json && !options.detach) console.print_line(answer.payload);
    console.note(fmt::format(
        "nothing was called: the call with this key was made before ({}) and its result is no "
        "longer kept",
        job->state));
    return job->state == "completed" ? ExitCode::ok : ExitCode::answered_error;
  }
  if (options.detach) {
    if (console.output_is_terminal())
      console.remark(
          fmt::format("get its result with: {} wait {}", typed_program(options), job->id));
    return ExitCode::ok;
  }
  if (asked.was_given_up()) {
    cancel(dialogue, options, job->id);
    return dialogue.report(asked);
  }
  return wait_for_result(dialogue, options, job->id);
}

ExitCode wait_for_jobs(Dialogue& dialogue, const Options& options) {
  const bool several = options.operands.size() > 1;
  JobWaits waits(dialogue, {std::nullopt, true, several, false, true});
  dialogue.say_when_given_up(several ? "the jobs go on" : "the job goes on");
  for (const std::string& job : options.operands) waits.add(job);
  ExitCode worst = ExitCode::ok;
  while (!waits.empty() && dialogue.console().output_state() == Sink::Result::ok) {
    const JobEvent event = waits.next();
    const ExitCode code = report_event(dialogue, options, event, several);
    if (event.kind == JobEvent::Kind::stopped || options.any) return code;
    worst = std::max(worst, code);
  }
  return worst;
}

ExitCode answer_job(Dialogue& dialogue, const Options& options, const Prepared& prepared) {
  const std::vector<Argument>& values = prepared.arguments;
  const std::string& job = options.operands[0];
  Console& console = dialogue.console();
  const Answer looked = dialogue.ask("bridge/collect", job_object(job).add("waitMs", 0).text());
  const auto found = looked.ok() ? read_collected(looked.payload) : std::optional<CollectedJob>();
  if (!found) return dialogue.report(looked);
  if (found->phase != CollectedJob::Phase::asks) {
    const bool has_ended = found->phase == CollectedJob::Phase::ended;
    const std::string state = has_ended ? "ended; get its result with: mcp-nc wait " + job
                                        : "not asked anything; it is working";
    return tell_failure(console, options, {"job", fmt::format("job '{}' has {}", job, state)});
  }
  if (values.empty() && !options.decline && !options.cancel) return answer_here(dialogue, options);
  const auto chosen = choose_answer(console, options, *found, values);
  if (!chosen) return ExitCode::usage;
  const Answer answer = dialogue.ask("bridge/answer", chosen->text());
  return answer.ok() ? print_done(dialogue, options, "") : dialogue.report(answer);
}

bool complete_jobs(Dialogue& dialogue, Options& options) {
  constexpr std::size_t whole = 32;
  std::optional<json::Value> all;
  auto& operands = options.operands;
  if (options.verb->has(takes_words)) operands.resize(1);
  for (std::string& job : operands) {
    if (job.empty() || job.size() >= whole) continue;
    if (!all) all = json::parse_or_null(dialogue.ask("bridge/jobs", R"({"limit":1000})").payload);
    std::set<std::string_view> found;
    for (const json::Value& each : all->array("jobs")) {
      if (each.string("job").starts_with(job)) found.insert(each.string("job"));
    }
    if (found.size() > 1) {
      tell_failure(
          dialogue.console(), options,
          {"job", fmt::format("{} jobs begin with '{}'; list them with: mcp-nc jobs --names",
                              found.size(), job)});
      return false;
    }
    if (found.size() == 1) job = *found.begin();
  }
  return true;
}

ExitCode print_jobs(Dialogue& dialogue, const Options& options, const std::string& result) {
  Console& console = dialogue.console();
  const json::Value parsed = json::parse_or_null(result);
  const json::Value* const jobs = parsed.find("jobs", json::Value::Kind::array);
  if (options.json) {
    console.print_line(result);
  } else if (jobs == nullptr) {
    return dialogue.report({Answer::Outcome::result, result});
  } else if (options.names) {
    for (const json::Value& job : jobs->items)
      console.print_line(bridge::make_visible_line(job.string("job")));
  } else if (jobs->items.empty()) {
    console.remark("no jobs");
  } else {
    const Look look = look_of(console);
    console.print_raw(draw_lines(render_jobs(jobs->items, look), look));
  }
  return ExitCode::ok;
}

ExitCode print_job_state(Dialogue& dialogue, const Options& options, const std::string& result) {
  const std::string state = json::string_member(result, "state");
  if (state.empty()) return dialogue.report({Answer::Outcome::result, result});
  dialogue.console().print_line(options.json ? result : bridge::make_visible_line(state));
  return ExitCode::ok;
}

ExitCode print_done(Dialogue& dialogue, const Options& options, const std::string&) {
  if (options.json) dialogue.console().print("{}\n");
  return ExitCode::ok;
}

}  // namespace client
