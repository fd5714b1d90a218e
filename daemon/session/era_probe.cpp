#include "session/era_probe.hpp"

#include <optional>
#include <utility>

#include "json/json_text.hpp"
#include "session/opening_failure.hpp"

namespace bridge {
namespace {

/// Of a server that is modern, but has answered with an error: it may have all of these.
constexpr std::string_view unknown_server =
    R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{}}})";

/// Of a server whose answer is not one of 2026-07-28.
Failure failure_of_discovery(const Frame& response) {
  Failure failure = definitive_failure_of(ErrorKind::session,
                                          "the upstream does not answer server/discover as MCP "
                                          "2026-07-28 has it");
  failure.upstream_error = std::string(response.text(response.error));
  return failure;
}

}  // namespace

EraProbe::EraProbe(EventLoop& loop, SessionSender& sender, Upstream& upstream, Events& events)
    : sender_(sender),
      upstream_(upstream),
      events_(events),
      timer_(loop, [this] { timed_out(); }) {}

void EraProbe::begin(std::chrono::milliseconds wait) {
  closed_connections_ = 0;
  timer_.set_after(wait);
  ask();
}

void EraProbe::ask() {
  asked_ = sender_.probe();
  is_under_way_ = true;
}

void EraProbe::stop() {
  if (is_under_way()) upstream_.abandon(asked_);
  forget();
}

void EraProbe::forget() {
  timer_.clear();
  is_under_way_ = false;
}

bool EraProbe::is_echo(const Frame& frame) const {
  if (!is_under_way() || !frame.is_request() || frame.method != "server/discover") return false;
  const auto id = to_unsigned(frame.text(frame.id));
  return id && awaits(static_cast<UpstreamId>(*id));
}

void EraProbe::timed_out() {
  stop();
  events_.probe_failed(failure_of(ErrorKind::timeout, Delivered::no,
                                  "the upstream does not answer server/discover"));
}

ProbeFailure EraProbe::failure_of_probe(const Failure& failure) const {
  if (failure.status != 0 || failure.kind == ErrorKind::malformed) return ProbeFailure::none;
  const bool is_child = !upstream_.has_answer_streams();
  if (is_child && failure.kind == ErrorKind::closed) return ProbeFailure::child_ended;
  if (failure.delivered == Delivered::no) return ProbeFailure::not_delivered;
  return failure.kind == ErrorKind::closed ? ProbeFailure::connection_closed
                                           : ProbeFailure::no_answer;
}

void EraProbe::answered(const Frame& response) {
  is_under_way_ = false;
  ProbeAnswer answer;
  answer.response = &response;
  judge(answer, failure_of_discovery(response), std::string(response.text(response.result)));
}

void EraProbe::ended(const Ending& ending) {
  is_under_way_ = false;
  ProbeAnswer answer;
  answer.closed_connections = closed_connections_;
  Failure failure = ending.failure.value_or(
      failure_of(ErrorKind::closed, Delivered::unknown, "the upstream's answer is empty"));
  answer.status = failure.status;
  const std::optional<Frame> response = error_of(failure);
  answer.response = response ? &*response : nullptr;
  if (ending.failure) answer.failure = failure_of_probe(failure);
  if (answer.failure == ProbeFailure::connection_closed) ++answer.closed_connections;
  closed_connections_ = answer.closed_connections;
  judge(answer, std::move(failure), {});
}

void EraProbe::judge(const ProbeAnswer& answer, Failure failure, std::string result) {
  const Judgement judgement = judge_probe(answer);
  switch (judgement.verdict) {
    case ProbeVerdict::modern:
      timer_.clear();
      events_.probe_found_modern(result.empty() ? std::string(unknown_server) : std::move(result));
      break;
    case ProbeVerdict::legacy:
    case ProbeVerdict::legacy_for_this_session:
      timer_.clear();
      events_.probe_found_legacy(judgement.verdict == ProbeVerdict::legacy, std::move(failure));
      break;
    case ProbeVerdict::refused:
      timer_.clear();
      events_.probe_failed(definitive_failure_of(ErrorKind::session, judgement.text));
      break;
    case ProbeVerdict::undecided:
      if (answer.failure == ProbeFailure::connection_closed) {
        ask();
      } else {
        timer_.clear();
        events_.probe_failed(std::move(failure));
      }
      break;
  }
}

}  // namespace bridge
