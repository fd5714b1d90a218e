#include "auth/local_token.hpp"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "base/log.hpp"
#include "base/secret_file.hpp"

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

namespace {

std::string without_line_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

}  // namespace

TokenCommand::TokenCommand(EventLoop& loop, std::string command,
                           std::optional<std::chrono::milliseconds> ttl, Log& log,
                           CommandLimits limits)
    : loop_(loop),
      command_(std::move(command)),
      ttl_(ttl && ttl->count() > 0 ? ttl : std::nullopt),
      log_(log),
      limits_(limits),
      shared_(loop, [this] {
        run_ = std::make_unique<CommandRun>(loop_, command_, limits_,
                                            [this](const CommandOutput& output) { ended(output); });
      }) {}

std::optional<std::string> TokenCommand::current() {
  if (ttl_ && token_ && loop_.now() >= expires_) token_.reset();
  return token_;
}

void TokenCommand::fetch(Done done) { shared_.join(std::move(done)); }

bool TokenCommand::refused(const std::string& token, const TokenChallenge&) {
  if (token_ == token) {
    token_.reset();
    shared_.token_refused();
  }
  return true;
}

std::optional<SavedToken> TokenCommand::save() const {
  if (!token_) return std::nullopt;
  return SavedToken{*token_, ttl_ ? TokenLife{expires_, expires_} : TokenLife{}};
}

void TokenCommand::restore(const SavedToken& saved) {
  token_ = saved.token;
  recent_.add(saved.token);
  // A changed --token-ttl counts from now.
  if (ttl_) expires_ = saved.life.ends() ? saved.life.expires : loop_.now() + *ttl_;
}

void TokenCommand::reload() {
  token_.reset();
  shared_.forgive();
}

void TokenCommand::ended(const CommandOutput& output) {
  log_errors(output);
  const std::unique_ptr<CommandRun> over = std::move(run_);
  const std::string token = without_line_end(output.out);
  if (!output.fault.empty()) {
    shared_.finish(no_token(fmt::format("--token-command {}", output.fault)));
  } else if (!is_token(token)) {
    shared_.finish(no_token(
        token.empty() ? "--token-command printed nothing"
                      : "--token-command printed more than one line of visible ASCII characters"));
  } else {
    token_ = token;
    if (ttl_) expires_ = loop_.now() + *ttl_;
    recent_.add(token);
    shared_.finish(TokenAnswer{token, std::nullopt});
  }
}

void TokenCommand::log_errors(const CommandOutput& output) {
  std::vector<std::string> secrets = recent_.all();
  // The output may be anything: a token of an older format, two tokens, half of one.
  std::istringstream words(output.out);
  for (std::string word; secrets.size() < 64 && words >> word;) secrets.push_back(word);
  std::istringstream lines(output.err);
  for (std::string line; std::getline(lines, line);) {
    line = printable(redacted(without_line_end(std::move(line)), secrets));
    if (!line.empty()) log_.peer(LogLevel::warning, "token command", "token command: {}", line);
  }
}

}  // namespace bridge
