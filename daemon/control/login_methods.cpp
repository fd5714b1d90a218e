#include "control/login_methods.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "control/readiness.hpp"
#include "jsonrpc/error_codes.hpp"
#include "jsonrpc/reply.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::uint64_t longest_wait = 3'600'000;

std::string status_text(const LoginStatus& status) {
  std::string text = fmt::format(R"("state":"{}")", name_of(status.state));
  if (status.expires_in)
    fmt::format_to(std::back_inserter(text), R"(,"expiresInMs":{})", status.expires_in->count());
  if (!status.scope.empty())
    fmt::format_to(std::back_inserter(text), R"(,"scope":{})", quote(status.scope));
  if (!status.wanted.empty())
    fmt::format_to(std::back_inserter(text), R"(,"wanted":{})", quote(status.wanted));
  if (status.is_pending) text += R"(,"pending":true)";
  return text;
}

/// What there is to do while one is pending, else how it stands.
std::string answer_text(const LoginAnswer& answer) {
  if (!answer.offer) return "{" + status_text(answer.status) + "}";
  const LoginOffer& offer = *answer.offer;
  std::string text = R"({"state":"pending")";
  const auto member = [&text](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    fmt::format_to(std::back_inserter(text), R"(,"{}":{})", name, quote(value));
  };
  member("url", offer.url);
  member("verificationUri", offer.verification_uri);
  member("userCode", offer.user_code);
  fmt::format_to(std::back_inserter(text), R"(,"expiresInMs":{}}})", offer.expires_in.count());
  return text;
}

Login::Done answer_to(const std::string& id, Control::Reply reply) {
  return [id, reply = std::move(reply)](const LoginAnswer& answer) {
    reply(answer.failure ? error_reply(id, *answer.failure)
                         : result_reply(id, answer_text(answer)));
  };
}

}  // namespace

std::string LoginMethods::status(const Session& session) const {
  if (login_ == nullptr) return {};
  return ",\"login\":{" + status_text(login_status(session, *login_)) + "}";
}

void LoginMethods::answer(const Frame& request, const Client& asker, Control::Reply reply) {
  const std::string id(request.text(request.id));
  const ClientIdentity& identity = asker.channel.identity();
  if (identity.kind != "unix" || (identity.uid != geteuid() && identity.uid != 0)) {
    reply(error_reply(id, json_rpc::invalid_request,
                      "only the daemon's user and root may log in and out, over its Unix socket"));
  } else if (login_ == nullptr) {
    reply(error_reply(id, json_rpc::invalid_request, "there is no login here: " + why_not_));
  } else if (request.method == "bridge/login") {
    log_in(request.text(request.params), id, std::move(reply));
  } else {
    login_->log_out([id, reply = std::move(reply)](const LogoutAnswer& answer) {
      reply(result_reply(
          id,
          fmt::format(R"({{"loggedIn":{},"revoked":{}{}}})", answer.was_logged_in, answer.revoked,
                      answer.fault.empty() ? "" : ",\"fault\":" + quote(answer.fault))));
    });
  }
}

void LoginMethods::log_in(std::string_view params, const std::string& id, Control::Reply reply) {
  const auto invalid = [&] {
    reply(error_reply(id, json_rpc::invalid_params,
                      "Invalid params: mode is \"browser\" or \"device\", callback a string, "
                      "waitMs a whole number, cancel true"));
  };
  if (const auto callback = find_member(params, "callback")) {
    const auto address = find_string(params, "callback");
    if (!address) {
      invalid();
      return;
    }
    login_->complete_login(*address, answer_to(id, std::move(reply)));
  } else if (const auto wait = find_member(params, "waitMs")) {
    const auto time = to_unsigned(*wait);
    if (!time) {
      invalid();
      return;
    }
    login_->wait_for_login(std::chrono::milliseconds(std::min(*time, longest_wait)),
                           answer_to(id, std::move(reply)));
  } else if (find_member(params, "cancel") == "true") {
    login_->cancel_login([id, reply = std::move(reply)](const LoginAnswer& answer) {
      reply(result_reply(id, "{" + status_text(answer.status) + "}"));
    });
  } else {
    std::optional<LoginMode> mode;
    if (const auto said = find_member(params, "mode")) {
      if (said != "\"browser\"" && said != "\"device\"") {
        invalid();
        return;
      }
      mode = said == "\"device\"" ? LoginMode::device : LoginMode::browser;
    }
    login_->begin_login(mode, answer_to(id, std::move(reply)));
  }
}

}  // namespace bridge
