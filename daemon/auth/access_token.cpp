#include "auth/access_token.hpp"

#include <utility>

namespace bridge {

bool AccessToken::is_there() {
  const auto token = source_->current();
  if (token) use(*token);
  return token.has_value();
}

void AccessToken::use(const std::string& token) {
  if (token == text_) return;
  text_ = token;
  ++generation_;
}

void AccessToken::fetch() {
  if (std::exchange(fetching_, true)) return;
  source_->fetch([this](const TokenAnswer& answer) { answered(answer); });
}

void AccessToken::with(Ready ready) {
  if (is_there()) {
    ready(std::nullopt);
  } else {
    waiting_.push_back(std::move(ready));
    fetch();
  }
}

void AccessToken::answered(const TokenAnswer& answer) {
  fetching_ = false;
  if (answer.failure) {
    ++failures_;
  } else {
    use(answer.token);
  }
  const std::vector<Ready> waiting = std::exchange(waiting_, {});
  arrived_(answer.failure);
  for (const Ready& ready : waiting) ready(answer.failure);
}

bool AccessToken::refused(int generation, const TokenChallenge& challenge) {
  if (generation == generation_ && !source_->refused(text_, challenge)) return false;
  if (!is_there()) fetch();
  return true;
}

std::vector<std::string> AccessToken::secrets() const {
  std::vector<std::string> secrets = source_->secrets();
  secrets.push_back(text_);
  return secrets;
}

}  // namespace bridge
