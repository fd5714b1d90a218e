#include "router/question.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "router/client.hpp"

namespace bridge {
namespace {

/// The caller as shown to this client. Empty: the client itself, or no particular caller.
std::string_view shown_caller(const Question& question, ClientId asked) {
  if (question.origin) return question.owner == asked ? "" : "another";
  switch (question.likely_caller.kind) {
    case LikelyCaller::Kind::nobody: return "";
    case LikelyCaller::Kind::one: return question.likely_caller.client == asked ? "" : "another";
    case LikelyCaller::Kind::several: return "unknown";
  }
  return "";
}

}  // namespace

bool Question::is_of_user(const Client& client) const {
  return user == client.user && grant == client.grant_id();
}

std::string_view Question::params() const { return find_member(line, "params").value_or(""); }

std::string notice_of_caller(const Question& question, const Client& asked) {
  if (!asked.declared.names(question.method)) return {};
  const std::string_view caller = shown_caller(question, asked.id());
  if (caller.empty()) return {};
  return own_notification("notifications/bridge/question_about",
                          JsonObject().add("requestId", question.id).add("caller", caller).text());
}

std::size_t QuestionTable::parked() const {
  return static_cast<std::size_t>(std::count_if(
      questions_.begin(), questions_.end(), [](const Question& one) { return one.is_parked(); }));
}

bool QuestionTable::can_park(std::size_t bytes) const {
  std::size_t parked_bytes = bytes;
  for (const Question& one : questions_) {
    if (one.is_parked()) parked_bytes += one.line.size();
  }
  return parked() < max_parked && parked_bytes <= max_parked_bytes;
}

Question& QuestionTable::add_question(Question question) {
  bytes_ += question.line.size();
  questions_.push_back(std::move(question));
  return questions_.back();
}

void QuestionTable::remove(const Question& question) {
  const auto found = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const Question& one) { return &one == &question; });
  if (found == questions_.end()) return;
  bytes_ -= found->line.size();
  questions_.erase(found);
}

void QuestionTable::move_to_end(const Question& question) {
  const auto found = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const Question& one) { return &one == &question; });
  questions_.splice(questions_.end(), questions_, found);
}

template <class IsOne>
Question* QuestionTable::find_if(IsOne&& is_one) {
  const auto found = std::find_if(questions_.begin(), questions_.end(), is_one);
  return found == questions_.end() ? nullptr : &*found;
}

Question* QuestionTable::find_question(std::uint64_t id) {
  return find_if([id](const Question& one) { return one.id == id; });
}

Question* QuestionTable::find_shown(std::string_view raw_id) {
  if (const auto number = unsigned_by_value(raw_id)) return find_question(*number);
  return find_if([raw_id](const Question& one) { return one.shown_id == raw_id; });
}

Question* QuestionTable::find_by_upstream_id(std::string_view raw_id, std::uint32_t session) {
  Question* const same = find_if([&](const Question& one) {
    return one.session == session && same_id(one.upstream_request_id, raw_id);
  });
  const auto number = same == nullptr ? unsigned_by_value(raw_id) : std::nullopt;
  if (!number) return same;
  return find_if([&](const Question& one) {
    return one.session == session && unsigned_by_value(one.upstream_request_id) == number;
  });
}

Question* QuestionTable::first_of(JobNumber job) {
  return find_if([job](const Question& one) {
    return one.answerer == Question::Answerer::job && one.job == job;
  });
}

bool QuestionTable::has_left_open(ClientId client, SteadyTime then) const {
  return std::any_of(questions_.begin(), questions_.end(), [&](const Question& one) {
    return one.asked == client && one.asked_since <= then && one.shown_id.empty();
  });
}

const Candidate* who_is_asked(const std::vector<Candidate>& candidates) {
  const bool all_silent = std::all_of(candidates.begin(), candidates.end(),
                                      [](const Candidate& one) { return one.is_silent; });
  const bool client_waits =
      std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& one) {
        return one.is_busy && one.job == JobNumber{} && (all_silent || !one.is_silent);
      });
  const Candidate* longest = nullptr;
  const Candidate* busy = nullptr;
  int busy_ones = 0;
  for (const Candidate& one : candidates) {
    if (one.is_silent && !all_silent) continue;
    if (one.is_own) return &one;
    if (one.job != JobNumber{} && client_waits) continue;
    if (longest == nullptr) longest = &one;
    if (!one.is_busy) continue;
    busy = &one;
    ++busy_ones;
  }
  return busy_ones == 1 ? busy : longest;
}

bool has_declined(const Question& question, ClientId client) {
  const auto& declined = question.declined;
  return std::find(declined.begin(), declined.end(), client) != declined.end();
}

}  // namespace bridge
