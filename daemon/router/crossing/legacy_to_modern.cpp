#include "router/crossing/legacy_to_modern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bridge {
namespace {

Failure wrong_result(std::string_view reason) {
  return failure_of(ErrorKind::malformed, Delivered::unknown,
                    fmt::format("the upstream's question is malformed: {}", reason));
}

Failure unanswered(std::string_view method, bool client_was_asked) {
  return failure_of(
      ErrorKind::no_client, Delivered::unknown,
      fmt::format("the upstream asks for {}, and {}", method,
                  client_was_asked
                      ? "the client that was asked has answered with an error"
                      : "no connected client that could be asked has declared that it answers"));
}

}  // namespace

std::variant<std::vector<InputRequest>, Failure> LegacyToModern::take_questions(
    std::string_view result, const std::vector<std::string>& answers) {
  if (++rounds_ > max_rounds) {
    return failure_of(ErrorKind::overloaded, Delivered::unknown,
                      fmt::format("the upstream has asked {} times and asks again", max_rounds));
  }
  auto read = read_input_required(result);
  if (const auto* reason = std::get_if<std::string_view>(&read)) return wrong_result(*reason);
  InputRequired& required = std::get<InputRequired>(read);
  request_state_ = std::move(required.request_state);
  answers_.clear();
  for (const InputRequest& request : required.requests) answers_.push_back({request.key, {}});
  const std::size_t answered = std::min(answers.size(), answers_.size());
  for (std::size_t index = 0; index < answered; ++index) answers_[index].result = answers[index];
  if (!required.requests.empty()) pauses_ = 0;
  return std::move(required.requests);
}

std::chrono::milliseconds LegacyToModern::next_pause() {
  return std::min(longest_pause, first_pause * (1 << pauses_++));
}

void LegacyToModern::take_answer(std::size_t index, std::string_view method,
                                 const Frame* response) {
  std::string& answer = answers_[index].result;
  if (response != nullptr && response->result.present()) {
    answer = response->text(response->result);
  } else if (method == "elicitation/create") {
    answer = cancelled_by_user;
  } else if (!failure_) {
    failure_ = unanswered(method, response != nullptr);
  }
}

bool LegacyToModern::has_all_answers() const {
  return std::none_of(answers_.begin(), answers_.end(),
                      [](const InputResponse& one) { return one.result.empty(); });
}

std::variant<Frame, Failure> LegacyToModern::next_request(UpstreamId id) const {
  const auto original = parse_frame(original_);
  auto again = parse_frame(retry_request(std::get<Frame>(original), std::to_string(value_of(id)),
                                         answers_, request_state_));
  if (const auto* fault = std::get_if<FrameFault>(&again)) return wrong_result(fault->reason);
  return std::get<Frame>(std::move(again));
}

void LegacyToModern::hold(ByteBudget& budget) {
  if (!held_) held_ = std::make_unique<ByteBudget::Share>(budget);
  std::size_t bytes = original_.size() + request_state_.size();
  for (const InputResponse& answer : answers_) bytes += answer.result.size();
  held_->set(bytes);
}

}  // namespace bridge
