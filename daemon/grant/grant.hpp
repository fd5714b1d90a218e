#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "policy/peer.hpp"
#include "policy/policy.hpp"

namespace bridge {

/// A part of its issuer's rights for a limited time (BEHAVIOUR, "Grants"): what its string says. A
/// value.
struct Grant {
  static constexpr std::size_t longest_payload = 8192;  ///< bytes
  static constexpr std::size_t longest_name = 100;      ///< bytes
  static constexpr std::size_t longest_glob = 256;      ///< bytes
  static constexpr std::size_t most_globs = 100;        ///< of a list

  std::string id;    ///< 14 hexadecimal digits; not a secret
  std::string name;  ///< empty: none
  Peer issuer;       ///< as it was; its `grant`: it had one
  // JSON as in a rule of the policy, canonical; empty: as the issuer.
  std::string tools;
  std::string prompts;
  std::string resources;
  std::string methods;
  std::uint64_t expires = 0;  ///< milliseconds since 1970
  std::uint64_t calls = 0;    ///< 0: as many as the issuer
  std::string parent;         ///< the id of its issuer's grant; empty: it had none

  bool has_expired(WallTime now) const;
  /// What its lists allow; they are valid.
  PolicyRule lists() const;
};

/// What an issuer asks for (`bridge/grant`): `id`, `issuer`, `parent` are not set, and `expires` is
/// the time to live. Or what is wrong with the params, in one sentence. Pure.
std::variant<Grant, std::string> read_wanted_grant(std::string_view params);

/// What a grant's string carries: canonical JSON. Pure.
std::string payload_of(const Grant& grant);
/// The grant, if the payload is exactly what payload_of() writes for it: a doubled or unknown
/// member, or another spelling, is none. Pure; any bytes.
std::optional<Grant> read_payload(std::string_view payload);

/// Why a grant is not accepted.
enum class GrantEnd : std::uint8_t {
  invalid,  ///< of another daemon or key, changed, or not a grant at all
  expired,
  revoked,
  used_up,  ///< all `calls` were made; what only reads is still allowed
};
constexpr GrantEnd last_of(GrantEnd) { return GrantEnd::used_up; }
constexpr std::size_t grant_ends = 4;

std::string_view name_of(GrantEnd end);
/// What its holder is told.
std::string_view text_of(GrantEnd end);

/// That a peer or a job has a grant; outlives the grant. A value.
struct GrantHold {
  std::vector<std::string> path;  ///< ids, from the one issued without a grant to this one
  std::string name;
  Peer issuer;
  Peer first_issuer;  ///< whose rights and limits these are
  std::uint64_t expires = 0;
  /// Of a connection whose `bridge/use` was refused, which may do nothing; then the path is empty.
  GrantEnd refused = GrantEnd::invalid;

  bool is_refused() const { return path.empty(); }
  std::string id() const { return path.empty() ? std::string() : path.back(); }
  /// Whether it is that grant, or was issued under it.
  bool is_of(std::string_view id) const;

  template <class A>
  void each_field(A& archive) {
    archive(path, name, issuer, first_issuer, expires, refused);
  }
};

}  // namespace bridge
