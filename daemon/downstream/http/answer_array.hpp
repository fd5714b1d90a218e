#pragma once

#include <string>
#include <vector>

namespace bridge {

/// The body of an answer: of one message that message, of an array of requests one array.
inline std::string answer_body(const std::vector<std::string>& answers, bool is_batch) {
  if (!is_batch) return answers.empty() ? std::string() : answers.front();
  std::string body = "[";
  for (const std::string& answer : answers) {
    if (body.size() > 1) body += ',';
    body += answer;
  }
  return body + ']';
}

/// `{"accepted":[…]}`, of raw ids.
inline std::string accepted_body(const std::vector<std::string>& raw_ids) {
  return R"({"accepted":)" + answer_body(raw_ids, true) + '}';
}

}  // namespace bridge
