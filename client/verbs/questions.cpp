#include "verbs/questions.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace client {

void TerminalQuestions::ask(std::string id, ElicitationForm form) {
  questions_.push_back({std::move(id), std::move(form)});
  if (questions_.size() == 1) show();
}

bool TerminalQuestions::withdraw(const json::Message& cancelled) {
  const auto which = json::member(cancelled.params, "requestId");
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
  std::array<char, 4096> bytes;
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) {
    console_.prompt("\n");
    questions_.front().form.end_of_input();
    return answer_if_done();
  }
  typed_.append(bytes.data(), static_cast<std::size_t>(count));
  std::size_t end = typed_.find('\n');
  for (; end != std::string::npos && !questions_.empty(); end = typed_.find('\n')) {
    const std::string line = typed_.substr(0, end);
    typed_.erase(0, end + 1);
    console_.prompt(questions_.front().form.take(line));
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
