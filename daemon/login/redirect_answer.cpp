#include "login/redirect_answer.hpp"

#include <array>

#include "http/constant_time.hpp"
#include "http/request_head.hpp"

namespace bridge {
namespace {

bool is_repeated(std::string_view query, std::string_view name) {
  int found = 0;
  for (std::size_t begin = 0; begin < query.size();) {
    const auto end = std::min(query.find('&', begin), query.size());
    const std::string_view pair = query.substr(begin, end - begin);
    if (pair.substr(0, pair.find('=')) == name) ++found;
    begin = end + 1;
  }
  return found > 1;
}

}  // namespace

RedirectAnswer read_redirect(std::string_view query) {
  RequestHead head;
  head.query = query;
  RedirectAnswer answer;
  answer.code = head.parameter("code").value_or(std::string());
  answer.state = head.parameter("state").value_or(std::string());
  answer.error = head.parameter("error").value_or(std::string());
  answer.error_description = head.parameter("error_description").value_or(std::string());
  answer.issuer = head.parameter("iss");
  for (const std::string_view name :
       std::array<std::string_view, 4>{"code", "state", "error", "iss"})
    answer.is_ambiguous = answer.is_ambiguous || is_repeated(query, name);
  return answer;
}

std::string query_of_pasted(std::string_view address) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = address.find_first_not_of(blanks);
  if (first == address.npos) return {};
  address = address.substr(first, address.find_last_not_of(blanks) + 1 - first);
  address = address.substr(0, address.find('#'));
  const auto question = address.find('?');
  return question == address.npos ? std::string() : std::string(address.substr(question + 1));
}

RedirectVerdict judge(const RedirectAnswer& answer, const ExpectedRedirect& expected) {
  if (answer.is_ambiguous || expected.state.empty() ||
      !equal_in_constant_time(answer.state, expected.state))
    return RedirectVerdict::foreign;
  if (answer.issuer ? *answer.issuer != expected.issuer : expected.issuer_is_announced)
    return RedirectVerdict::wrong_issuer;
  if (!answer.error.empty() || answer.code.empty()) return RedirectVerdict::refused;
  return RedirectVerdict::granted;
}

}  // namespace bridge
