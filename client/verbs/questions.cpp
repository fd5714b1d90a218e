#include "verbs/questions.hpp"

#include <algorithm>

namespace client {

void TerminalQuestions::ask(std::string id, ElicitationForm form) {
  questions_.push_back({std::move(id), std::move(form)});
  if (questions_.size() == 1) show();
}

bool TerminalQuestions::withdraw(const json::Message& cancelled) {
  const auto which = json::find_member(cancelled.params, "requestId");
  const auto found = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const Question& one) { return which && one.id == *which; });
  if (found == questions_.end()) return false;
  const bool was_shown = found == questions_.begin();
  questions_.erase(found);
  console_.prompt("\n");
  console_.note("the server has withdrawn its question");
  if (was_shown) show();
  return true;
}

std::vector<std::string> TerminalQuestions::dismiss() {
  std::vector<std::string> ids;
  for (const Question& question : questions_) ids.push_back(question.id);
  questions_.clear();
  return ids;
}

void TerminalQuestions::take_typed() {
  if (!lines_.read()) {
    console_.prompt("\n");
    questions_.front().form.end_of_input();
    return answer_if_done();
  }
  while (!questions_.empty()) {
    const auto line = lines_.next();
    if (!line) return;
    console_.prompt(questions_.front().form.take(*line));
    answer_if_done();
  }
}

void TerminalQuestions::show() {
  if (!questions_.empty()) console_.prompt(questions_.front().form.begin());
}

void TerminalQuestions::answer_if_done() {
  Question& question = questions_.front();
  if (!question.form.done()) return;
  deliver_(question.id, question.form);
  questions_.pop_front();
  show();
}

}  // namespace client
