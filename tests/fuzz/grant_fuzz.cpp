#include <string>
#include <variant>

#include "grant/grant.hpp"
#include "grant/grant_key.hpp"
#include "grant/grants.hpp"
#include "harness.hpp"
#include "json/json_text.hpp"

// The input: a string, a NUL, a payload, a NUL, the params of a bridge/grant. A string is accepted
// only as this key writes it; a payload only as it is written again; a grant that is issued from
// any params is accepted, changed nowhere, and allows no more than its issuer.

namespace {

using namespace bridge;

const GrantKey key(std::string(GrantKey::size, 'k'));
const Grants::Now now{WallTime(std::chrono::milliseconds(1'800'000'000'000)), {}};

void check_string(const std::string& string) {
  if (const auto payload = key.verify(string)) MUST(key.sign(*payload) == string);
}

void check_payload(const std::string& payload) {
  const auto grant = read_payload(payload);
  if (!grant) return;
  MUST(payload_of(*grant) == payload);
  const std::string string = key.sign(payload);
  MUST(key.verify(string) == payload);
  for (std::size_t at = 0; at < string.size(); at += 7) {
    std::string changed = string;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    MUST(!key.verify(changed));
  }
}

void check_params(const std::string& params) {
  if (!is_json(params)) return;
  auto wanted = read_wanted_grant(params);
  if (const auto* wrong = std::get_if<std::string>(&wanted)) {
    MUST(!wrong->empty());
    return;
  }
  Grants grants;
  const PolicyRule lists = std::get<Grant>(wanted).lists();
  Grant long_one;
  long_one.expires = 24 * 60 * 60 * 1000;
  const auto parent = grants.issue(std::move(long_one), {false, 1, 1, {}}, nullptr, now);
  const GrantHold above = grants.hold_of(*std::get<Grants::Issued>(parent).alive);
  const auto issued =
      grants.issue(std::get<Grant>(std::move(wanted)), {false, 2, 2, {}}, &above, now);
  if (std::holds_alternative<Failure>(issued)) return;
  const auto& [string, alive] = std::get<Grants::Issued>(issued);
  MUST(std::holds_alternative<GrantHold>(grants.verify(string, now)));
  MUST(alive->grant.expires <= above.expires);
  const PolicyRule rights = grants.rights_of(grants.hold_of(*alive), nullptr);
  for (const char* name : {"a", "search_x", "", "*", "read"})
    MUST(rights.tools.allows(name) == lists.tools.allows(name));
  Grants other;
  other.set_key(GrantKey(grants.key().bytes()));
  other.restore(grants.save(), now);
  MUST(std::holds_alternative<GrantHold>(other.verify(string, now)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const auto first = input.find('\0');
  const auto second = first == input.npos ? first : input.find('\0', first + 1);
  check_string(input.substr(0, first));
  if (first != input.npos) check_payload(input.substr(first + 1, second - first - 1));
  if (second != input.npos) check_params(input.substr(second + 1));
  return 0;
}
