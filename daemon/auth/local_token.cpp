#include "auth/local_token.hpp"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "base/log.hpp"
#include "base/secret_file.hpp"

namespace bridge {

TokenFile::TokenFile(EventLoop& loop, std::string path)
    : loop_(loop), file_(std::move(path), "--token-file"), waiters_(loop) {
  recent_.add(file_.token());
}

void TokenFile::reload() {
  file_.read();
  recent_.add(file_.token());
}

std::optional<std::string> TokenFile::current() {
  if (file_.look(loop_.now())) recent_.add(file_.token());
  return file_.token().empty() ? std::nullopt : std::optional(file_.token());
}

void TokenFile::fetch(Done done) {
  waiters_.add(std::move(done));
  if (file_.token().empty()) reload();
  waiters_.answer(file_.token().empty() ? no_token(file_.fault())
                                        : TokenAnswer{file_.token(), std::nullopt});
}

bool TokenFile::refused(const std::string& token, const TokenChallenge&) {
  reload();
  return !file_.token().empty() && file_.token() != token;
}

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
