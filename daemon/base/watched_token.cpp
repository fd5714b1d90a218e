#include "base/watched_token.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/log.hpp"

namespace bridge {
namespace {

constexpr std::chrono::seconds look_interval{1};

}  // namespace

WatchedToken::WatchedToken(std::string path, std::string_view option)
    : path_(std::move(path)), option_(option) {
  read();
}

bool WatchedToken::look(SteadyTime now) {
  if (now - looked_ < look_interval) return false;
  looked_ = now;
  if (identity_ && identity_of(path_) == *identity_) return false;
  read();
  return true;
}

void WatchedToken::read() {
  SecretFile file = read_secret_file(path_, option_);
  fault_ = std::move(file.fault);
  if (fault_.empty() && !is_token(file.content)) {
    fault_ =
        fmt::format("{}: {}: not one line of visible ASCII characters", option_, printable(path_));
  }
  token_ = fault_.empty() ? std::move(file.content) : std::string();
  identity_ = fault_.empty() && !file.is_fresh ? std::optional(file.identity) : std::nullopt;
}

}  // namespace bridge
