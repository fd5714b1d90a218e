#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

/// What the query of the redirect says (RFC 6749, section 4.1.2; RFC 9207). A value; all of it is
/// a peer's.
struct RedirectAnswer {
  std::string code;
  std::string state;
  std::string error;
  std::string error_description;
  std::optional<std::string> issuer;
  bool is_ambiguous = false;  ///< a parameter is there twice
};

/// `query` is without the question mark. Pure.
RedirectAnswer read_redirect(std::string_view query);

/// The query of an address that a person has pasted; blanks around it do not count.
std::string query_of_pasted(std::string_view address);

/// What an answer is held against.
struct ExpectedRedirect {
  std::string state;
  std::string issuer;
  bool issuer_is_announced = false;  ///< the metadata promise an `iss` in each answer
};

enum class RedirectVerdict {
  foreign,       ///< no answer to this request: it ends nothing
  wrong_issuer,  ///< nothing else of it is to be shown or used
  refused,       ///< error and error_description say why
  granted,       ///< code is there
};

/// MCP 2026-07-28, "Authorization", "Authorization Response Validation". Pure.
RedirectVerdict judge(const RedirectAnswer& answer, const ExpectedRedirect& expected);

}  // namespace bridge
