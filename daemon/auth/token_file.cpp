#include "auth/token_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/log.hpp"

namespace bridge {
namespace {

constexpr std::chrono::seconds look_interval{1};

}  // namespace

TokenFile::TokenFile(EventLoop& loop, std::string path)
    : loop_(loop), path_(std::move(path)), waiters_(loop) {
  read();
}

void TokenFile::read() {
  SecretFile file = read_secret_file(path_, "--token-file");
  if (file.fault.empty() && !is_token(file.content)) {
    file.fault =
        fmt::format("--token-file: {}: not one line of visible ASCII characters", printable(path_));
    file.content.clear();
  }
  token_ = std::move(file.content);
  fault_ = std::move(file.fault);
  identity_ = file.is_fresh ? std::nullopt : std::optional(file.identity);
  looked_ = loop_.now();
  recent_.add(token_);
}

void TokenFile::look() {
  const auto now = loop_.now();
  if (now - looked_ < look_interval) return;
  looked_ = now;
  if (!identity_ || identity_of(path_) != *identity_) read();
}

std::optional<std::string> TokenFile::current() {
  look();
  return token_.empty() ? std::nullopt : std::optional(token_);
}

void TokenFile::fetch(Done done) {
  waiters_.add(std::move(done));
  if (token_.empty()) read();
  waiters_.answer(token_.empty() ? no_token(fault_) : TokenAnswer{token_, std::nullopt});
}

bool TokenFile::refused(const std::string& token, const TokenChallenge&) {
  read();
  return !token_.empty() && token_ != token;
}

void TokenFile::reload() { read(); }

}  // namespace bridge
