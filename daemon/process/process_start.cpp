#include "process/process_start.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "process/pointers_to.hpp"

namespace bridge {
namespace {

constexpr char redaction = '*';

using Parts = std::vector<std::pair<std::size_t, std::size_t>>;

Parts secrets_of_url(std::string_view url) {
  Parts parts;
  const auto scheme = url.find("://");
  const auto begin = scheme == url.npos ? 0 : scheme + 3;
  const auto path = std::min(url.find_first_of("/?#", begin), url.size());
  const auto at = url.substr(0, path).rfind('@');
  if (at != url.npos && at > begin) parts.emplace_back(begin, at - begin);
  const auto query = url.find('?', begin);
  if (query != url.npos) parts.emplace_back(query + 1, url.size() - query - 1);
  return parts;
}

/// All behind the first `separator`; of a value without one all.
Parts secrets_behind(std::string_view value, char separator) {
  const auto found = value.find(separator);
  const auto begin = found == value.npos ? 0 : found + 1;
  if (begin == value.size()) return {};
  return {{begin, value.size() - begin}};
}

Parts secrets_of_value(std::string_view option, std::string_view value) {
  if (option == "--header") return secrets_behind(value, ':');
  if (option == "--input") return secrets_behind(value, '=');
  if (option == "--url") return secrets_of_url(value);
  return {};
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> secret_parts(std::string_view previous,
                                                              std::string_view argument) {
  const auto equals = argument.find('=');
  if (!argument.starts_with("--") || equals == argument.npos)
    return secrets_of_value(previous, argument);
  auto parts = secrets_of_value(argument.substr(0, equals), argument.substr(equals + 1));
  for (auto& [begin, length] : parts) begin += equals + 1;
  return parts;
}

std::vector<std::string> redacted_arguments(std::vector<std::string> arguments) {
  const std::vector<std::string> given = arguments;
  for (std::size_t i = 1; i < given.size() && given[i] != "--"; ++i) {
    for (const auto& [begin, length] : secret_parts(given[i - 1], given[i]))
      arguments[i].replace(begin, length, length, redaction);
  }
  return arguments;
}

ProcessStart::ProcessStart(int argc, char** argv)
    : original_arguments_(argv), original_environ_(environ), arguments_(argv, argv + argc) {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    original_environment_.push_back(*variable);
    environment_.emplace_back(*variable);
  }
  argument_pointers_ = pointers_to(arguments_);
  environment_pointers_ = pointers_to(environment_);
  environ = environment_pointers_.data();
}

void ProcessStart::continue_from(std::vector<std::string> arguments,
                                 std::vector<std::string> environment) {
  arguments_ = std::move(arguments);
  environment_ = std::move(environment);
  argument_pointers_ = pointers_to(arguments_);
  environment_pointers_ = pointers_to(environment_);
  environ = environment_pointers_.data();
}

ProcessStart::~ProcessStart() { environ = original_environ_; }

void ProcessStart::redact_originals() {
  for (char* const variable : original_environment_) {
    char* const equals = std::strchr(variable, '=');
    if (equals != nullptr) explicit_bzero(equals + 1, std::strlen(equals + 1));
  }
  // What stands behind `--` is the local server's own.
  for (std::size_t i = 1; i < arguments_.size() && arguments_[i] != "--"; ++i) {
    for (const auto& [begin, length] : secret_parts(arguments_[i - 1], arguments_[i]))
      std::memset(original_arguments_[i] + begin, redaction, length);
  }
}

void name_process(const std::string& program) {
  prctl(PR_SET_NAME, program.substr(program.rfind('/') + 1).c_str(), 0, 0, 0);
}

void let_be_inspected(bool may) { prctl(PR_SET_DUMPABLE, may ? 1 : 0, 0, 0, 0); }

}  // namespace bridge
