#pragma once

#include <cstdint>
#include <string>

namespace bridge {

/// What became of a refresh token that was sent.
enum class RefreshEnd : std::uint8_t {
  granted,
  not_sent,     ///< no connection: the server has not seen it
  unavailable,  ///< the server says that it cannot now
  lost,         ///< sent, but what came is no answer
  refused,      ///< the server has judged, and another try is of no use
};

enum class RefreshStep : std::uint8_t {
  use,     ///< the new tokens
  again,   ///< at once, with the same refresh token
  later,   ///< after a while, with the same one
  log_in,  ///< a person has to
};

/// A refresh token is sent a second time only if the answer to the first was lost: a server that
/// rotates them takes a third for theft (RFC 6749, section 6). `sent`: how often it was, this
/// time included. Pure.
constexpr RefreshStep next_step(RefreshEnd end, int sent) {
  switch (end) {
    case RefreshEnd::granted: return RefreshStep::use;
    case RefreshEnd::not_sent:
    case RefreshEnd::unavailable: return RefreshStep::later;
    case RefreshEnd::lost: return sent < 2 ? RefreshStep::again : RefreshStep::log_in;
    case RefreshEnd::refused: break;
  }
  return RefreshStep::log_in;
}

/// Whether the server may have redeemed the refresh token, whatever the answer was.
constexpr bool counts_as_redeemed(RefreshEnd end) {
  return end != RefreshEnd::not_sent && end != RefreshEnd::unavailable;
}

/// What an HTTP answer that grants nothing means. `error`: RFC 6749, section 5.2. Pure.
inline RefreshEnd refresh_end(int status, const std::string& error) {
  if (error == "invalid_grant" || error == "invalid_client" || error == "unauthorized_client" ||
      error == "unsupported_grant_type" || error == "invalid_scope" || error == "invalid_target")
    return RefreshEnd::refused;
  if (status == 200) return RefreshEnd::lost;
  return RefreshEnd::unavailable;
}

}  // namespace bridge
