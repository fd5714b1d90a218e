#include "grant/grants.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "../../words.hpp"
#include "../router/policies.hpp"
#include "policy/subject.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const WallTime start{std::chrono::milliseconds(1'800'000'000'000)};
const Peer alice{false, 1000, 100, {}};
const Peer bob{false, 1001, 101, {}};
const Peer http{true, 0, 0, {}};

struct Table {
  Grants grants{10};
  Grants::Now now{start, SteadyTime(1h)};

  /// On both clocks.
  void advance(std::chrono::milliseconds time) {
    now.wall += time;
    now.steady += time;
  }

  Grants::Issued issue(const std::string& params, const Peer& issuer = alice,
                       const GrantHold* under = nullptr) {
    auto issued = grants.issue(std::get<Grant>(read_wanted_grant(params)), issuer, under, now);
    if (const auto* failure = std::get_if<Failure>(&issued)) FAIL(failure->message);
    return std::get<Grants::Issued>(std::move(issued));
  }
  GrantHold hold(const std::string& params, const Peer& issuer = alice,
                 const GrantHold* under = nullptr) {
    return grants.hold_of(*issue(params, issuer, under).alive);
  }
  std::string refusal(const std::string& params, const Peer& issuer = alice,
                      const GrantHold* under = nullptr) {
    const auto issued =
        grants.issue(std::get<Grant>(read_wanted_grant(params)), issuer, under, now);
    const auto* failure = std::get_if<Failure>(&issued);
    return failure != nullptr ? failure->message : "";
  }
  /// What its string is now: "ok", or why it is refused.
  std::string state(const std::string& string) const {
    const auto verified = grants.verify(string, now);
    const auto* end = std::get_if<GrantEnd>(&verified);
    return end != nullptr ? std::string(name_of(*end)) : "ok";
  }
};

/// Of a list with a tool that only reads.
const ToolList& tools() {
  static const ToolList list = [] {
    ToolList made;
    made.take_page(
        {},
        R"({"tools":[{"name":"a_read","annotations":{"readOnlyHint":true}},{"name":"a_write"},{"name":"b_read","annotations":{"readOnlyHint":true}}]})");
    return made;
  }();
  return list;
}

/// The tools of the three that these rights allow, as `a_read,a_write`.
std::string allowed(const PolicyRule& rights) {
  std::string all;
  for (const char* name : {"a_read", "a_write", "b_read"}) {
    if (allows(rights, {Subject::Kind::tool, name}, tools()))
      all += (all.empty() ? "" : ",") + std::string(name);
  }
  return all;
}

}  // namespace

TEST_CASE("a grant allows what the rules of its issuers and each grant on its path allow") {
  struct Row {
    const char* rules;  ///< of the policy; null: there is none
    const char* parent;
    const char* child;  ///< null: there is none
    const char* expected;
  };
  // The issuer is uid 1000, that of the child 1001.
  constexpr const char* none = R"({"uid":1001})";
  constexpr const char* all = R"({"uid":1000})";
  constexpr const char* a = R"({"uid":1000,"tools":["a_*"]},{"uid":1001})";
  constexpr const char* reading = R"({"uid":1000,"tools":"read-only"},{"uid":1001})";
  constexpr const char* everything = "a_read,a_write,b_read";
  constexpr Row rows[] = {
      {nullptr, "{}", nullptr, everything},
      {nullptr, R"({"tools":["a_*"]})", nullptr, "a_read,a_write"},
      {nullptr, R"({"tools":"read-only"})", nullptr, "a_read,b_read"},
      {nullptr, R"({"tools":["*","!a_write"]})", nullptr, "a_read,b_read"},
      {nullptr, R"({"tools":[]})", nullptr, ""},
      {nullptr, R"({"tools":["!a_read"]})", nullptr, ""},
      {nullptr, R"({"tools":["a_*"]})", R"({"tools":"read-only"})", "a_read"},
      {nullptr, R"({"tools":"read-only"})", R"({"tools":["a_*"]})", "a_read"},
      {nullptr, R"({"tools":["a_*"]})", R"({"tools":["*"]})", "a_read,a_write"},
      {nullptr, R"({"tools":["a_*"]})", R"({"tools":["b_*"]})", ""},
      {nullptr, "{}", R"({"tools":["b_*"]})", "b_read"},
      {nullptr, R"({"tools":[]})", "{}", ""},
      {all, "{}", nullptr, everything},
      {all, R"({"tools":["a_*"]})", nullptr, "a_read,a_write"},
      {a, "{}", nullptr, "a_read,a_write"},
      {a, R"({"tools":["*"]})", nullptr, "a_read,a_write"},
      {a, R"({"tools":["b_*"]})", nullptr, ""},
      {a, R"({"tools":"read-only"})", nullptr, "a_read"},
      {a, R"({"tools":"read-only"})", "{}", "a_read"},
      {a, "{}", R"({"tools":["a_w*","b_*"]})", "a_write"},
      {reading, "{}", nullptr, "a_read,b_read"},
      {reading, R"({"tools":["a_*"]})", "{}", "a_read"},
      {none, "{}", nullptr, ""},
      {none, "{}", "{}", ""},
      // The child's issuer: by the rule that matches it with its own grant.
      {R"({"uid":1000},{"uid":1001,"tools":["b_*"]})", "{}", "{}", "b_read"},
      {R"({"uid":1000},{"uid":1001})", "{}", "{}", everything},
      {R"({"uid":1000},{"uid":1001})", R"({"tools":["a_*"]})", "{}", "a_read,a_write"},
      {R"({"uid":1000,"tools":["a_*"]},{"uid":1001})", "{}", "{}", "a_read,a_write"},
      {R"({"uid":1000},{"uid":1001,"grant":false,"tools":[]})", "{}", "{}", ""},
      {R"({"uid":1000},{"uid":1001,"grant":false},{"tools":["b_*"]})", "{}", "{}", "b_read"},
      {R"({"uid":1000},{"uid":1001,"grant":true,"tools":["b_*"]})", "{}", "{}", "b_read"},
      {R"({"uid":1000},{"uid":1001,"grant":true,"tools":["a_w*","b_*"]})", R"({"tools":["a_*"]})",
       R"({"tools":["*","!a_read"]})", "a_write"},
      {R"({"uid":1000},{"uid":1001,"tools":"read-only"})", R"({"tools":["a_*"]})", "{}", "a_read"},
      {R"({"uid":1000},{"uid":1001,"grant":true,"tools":[]},{"uid":1001})", "{}", "{}", ""},
      {R"({"uid":1000},{"gid":101,"tools":["b_*"]})", "{}", "{}", "b_read"},
      {R"({"uid":1000},{"http":true})", "{}", "{}", ""},
      // That rule is not asked for what the holder of the first grant does itself.
      {R"({"uid":1000},{"uid":1001,"grant":true,"tools":[]})", "{}", nullptr, everything},
      // The first issuer had none.
      {R"({"uid":1000,"grant":false},{"uid":1000,"tools":[]},{"uid":1001})", "{}", "{}",
       everything},
      {R"({"uid":1000,"grant":true},{"uid":1000,"tools":[]})", "{}", nullptr, ""},
      {R"({"uid":1000,"grant":true},{"uid":1001})", "{}", "{}", ""},
  };
  for (const Row& row : rows) {
    INFO(row.parent << ' ' << (row.child != nullptr ? row.child : "-") << ' '
                    << (row.rules != nullptr ? row.rules : "-"));
    Table t;
    GrantHold hold = t.hold(row.parent);
    if (row.child != nullptr) hold = t.hold(row.child, bob, &hold);
    const auto file = row.rules != nullptr ? policy_of(row.rules) : nullptr;
    CHECK(allowed(t.grants.rights_of(hold, file ? &file->policy : nullptr)) == row.expected);
  }
}

TEST_CASE("each kind of list narrows its own kind") {
  Table t;
  const GrantHold hold = t.hold(R"({"prompts":["p_*"],"resources":["x://*"],"methods":["m/*"]})");
  const GrantHold child =
      t.hold(R"({"prompts":["*_1"],"resources":[],"methods":["*/n"]})", bob, &hold);
  const auto may = [&](const GrantHold& of, Subject::Kind kind, const char* name) {
    return allows(t.grants.rights_of(of, nullptr), {kind, name}, tools());
  };
  using Kind = Subject::Kind;
  CHECK(may(hold, Kind::tool, "b_read"));
  CHECK(may(hold, Kind::prompt, "p_2"));
  CHECK_FALSE(may(hold, Kind::prompt, "q_1"));
  CHECK(may(hold, Kind::resource, "x://1"));
  CHECK_FALSE(may(hold, Kind::resource, "y://1"));
  CHECK(may(hold, Kind::method, "m/o"));
  CHECK_FALSE(may(hold, Kind::method, "logging/setLevel"));
  CHECK(may(child, Kind::prompt, "p_1"));
  CHECK_FALSE(may(child, Kind::prompt, "p_2"));
  CHECK_FALSE(may(child, Kind::resource, "x://1"));
  CHECK(may(child, Kind::method, "m/n"));
  CHECK_FALSE(may(child, Kind::method, "m/o"));
}

TEST_CASE("a grant that narrows nothing restricts nothing, and takes its issuer's rate") {
  Table t;
  const auto file = policy_of(R"({"uid":1000,"rate":"3/1m","inflight":2},{"uid":1001})");
  CHECK(t.grants.rights_of(t.hold("{}"), nullptr).restricts_nothing());
  const GrantHold hold = t.hold("{}");
  const PolicyRule rights = t.grants.rights_of(t.hold("{}", bob, &hold), &file->policy);
  CHECK(rights.restricts_nothing());
  CHECK(rights.rate->burst == 3);
  CHECK(rights.inflight == 2);
}

TEST_CASE("a string is accepted while its grant is alive, and says why it is not") {
  Table t;
  const std::string string = t.issue(R"({"ttlMs":1000})").string;
  const std::string other = t.issue(R"({"ttlMs":2000})").string;
  CHECK(t.state(string) == "ok");
  t.advance(999ms);
  CHECK(t.state(string) == "ok");
  t.advance(1ms);
  CHECK(t.state(string) == "expired");
  CHECK(t.grants.expire(t.now).size() == 1);
  CHECK(t.grants.expire(t.now).empty());
  CHECK(t.state(string) == "expired");
  CHECK(t.state(other) == "ok");
  CHECK(t.grants
            .revoke(t.grants
                        .hold_of(
                            *t.grants.find(std::get<GrantHold>(t.grants.verify(other, t.now)).id()))
                        .id())
            .size() == 1);
  CHECK(t.state(other) == "revoked");
  t.advance(1s);
  CHECK(t.state(other) == "expired");
}

TEST_CASE("another daemon, another key, and a changed string are one refusal") {
  Table t;
  Table other;
  const std::string string = t.issue("{}").string;
  CHECK(other.state(string) == "invalid");
  CHECK(t.state(string + "A") == "invalid");
  CHECK(t.state("mcpx_" + string.substr(5)) == "invalid");
  std::string changed = string;
  changed[9] = changed[9] == 'A' ? 'B' : 'A';
  CHECK(t.state(changed) == "invalid");
  CHECK(t.state(string) == "ok");
  CHECK(t.state("") == "invalid");
  CHECK(t.state("mcpg_") == "invalid");
  // Signed by the right key, but no payload of a grant.
  CHECK(t.state(t.grants.key().sign("{}")) == "invalid");
  CHECK(t.state(t.grants.key().sign(
            R"({"id":"0123456789abcd","uid":0,"uid":0,"gid":0,"expires":9999999999999})")) ==
        "invalid");
  // Of an earlier life of this key: it was revoked, or its record was lost.
  CHECK(t.state(t.grants.key().sign(
            R"({"id":"0123456789abcd","uid":0,"gid":0,"expires":9999999999999})")) == "revoked");
}

TEST_CASE("a child ends with its parent, and no later") {
  Table t;
  const GrantHold parent = t.hold(R"({"ttlMs":1000})");
  const auto child = t.issue(R"({"ttlMs":5000})", bob, &parent);
  CHECK(child.alive->grant.expires == parent.expires);
  const GrantHold held = t.grants.hold_of(*child.alive);
  const auto grandchild = t.issue(R"({"ttlMs":500})", http, &held);
  CHECK(grandchild.alive->path.size() == 3);
  CHECK(grandchild.alive->first_issuer.uid == 1000);
  t.advance(500ms);
  CHECK(t.state(grandchild.string) == "expired");
  CHECK(t.state(child.string) == "ok");
  t.grants.expire(t.now);
  CHECK(t.grants.revoke(parent.id()).size() == 2);
  CHECK(t.state(child.string) == "revoked");
  CHECK(t.grants.end_of(held, t.now) == GrantEnd::revoked);
  CHECK(t.grants.size() == 0);
}

TEST_CASE("calls count on all grants of the path") {
  Table t;
  const GrantHold parent = t.hold(R"({"calls":3})");
  const GrantHold child = t.hold(R"({"calls":2})", bob, &parent);
  const GrantHold free_child = t.hold("{}", bob, &parent);
  CHECK(t.grants.calls_left(free_child) == 3);
  t.grants.count_calls(child, 1);
  CHECK(t.grants.calls_left(child) == 1);
  CHECK(t.grants.calls_left(parent) == 2);
  t.grants.count_calls(free_child, 1);
  CHECK(t.grants.calls_left(child) == 1);
  t.grants.count_calls(child, 1);
  for (const GrantHold* hold : {&parent, &child, &free_child}) {
    CHECK(t.grants.is_used_up(*hold));
    CHECK_FALSE(t.grants.end_of(*hold, t.now));
  }
  CHECK(t.grants.calls_left(t.hold("{}")) == std::nullopt);
}

TEST_CASE("there are at most so many grants, half of them of one user, and so deep") {
  Table t;
  for (int i = 0; i < 5; ++i) t.issue("{}");
  CHECK(contains(t.refusal("{}"), "too many grants are alive"));
  const GrantHold hold = t.grants.hold_of(*t.issue("{}", bob).alive);
  CHECK(t.grants.size() == 6);
  for (int i = 0; i < 4; ++i) t.issue("{}", i % 2 == 0 ? bob : alice, &hold);
  CHECK(contains(t.refusal("{}", http), "too many grants are alive"));
  t.advance(601s);
  t.grants.expire(t.now);
  t.issue("{}", http);

  Grants deep(100);
  GrantHold under;
  for (std::size_t i = 0; i < Grants::deepest; ++i) {
    auto issued = deep.issue({}, alice, i == 0 ? nullptr : &under, {start, {}});
    REQUIRE(std::holds_alternative<Grants::Issued>(issued));
    under = deep.hold_of(*std::get<Grants::Issued>(issued).alive);
  }
  CHECK(std::holds_alternative<Failure>(deep.issue({}, alice, &under, {start, {}})));
}

TEST_CASE("a grant whose lists are too long is not issued") {
  Table t;
  std::string globs;
  for (int i = 0; i < 100; ++i) globs += (i == 0 ? "\"" : ",\"") + std::string(100, 'g') + "\"";
  CHECK(contains(t.refusal(R"({"tools":[)" + globs + "]}"), "too long"));
}

TEST_CASE("grants are restored with their key, counts and parents, whatever the order") {
  Table t;
  const auto parent = t.issue(R"({"calls":3})");
  const GrantHold held = t.grants.hold_of(*parent.alive);
  const auto child = t.issue("{}", bob, &held);
  const auto gone = t.issue("{}");
  const auto short_one = t.issue(R"({"ttlMs":10})");
  t.grants.count_calls(t.grants.hold_of(*child.alive), 2);
  t.grants.revoke(gone.alive->grant.id);

  auto saved = t.grants.save();
  for (int turn = 0; turn < 2; ++turn) {
    Table next;
    next.advance(10ms);
    next.grants.set_key(GrantKey(t.grants.key().bytes()));
    next.grants.restore(saved, next.now);
    CHECK(next.state(child.string) == "ok");
    CHECK(next.state(gone.string) == "revoked");
    CHECK(next.state(short_one.string) == "expired");
    CHECK(next.grants.calls_left(held) == 1);
    CHECK(next.grants.revoke(held.id()).size() == 2);
    std::reverse(saved.begin(), saved.end());
  }
  // A child without its parent is not restored.
  std::erase_if(saved, [&](const SavedGrant& one) { return contains(one.payload, "calls"); });
  Table next;
  next.grants.set_key(GrantKey(t.grants.key().bytes()));
  next.grants.restore(saved, next.now);
  CHECK(next.state(child.string) == "revoked");
}

TEST_CASE("a state is told of what has changed since it asked") {
  Table t;
  t.issue("{}");
  CHECK(t.grants.take_changes().empty());  // it reads all that is there by itself
  const GrantHold hold = t.hold(R"({"calls":3})");
  t.grants.count_calls(hold, 1);
  auto changes = t.grants.take_changes();
  CHECK(changes.issued == std::vector<std::string>{hold.id()});
  CHECK(changes.used.contains(hold.id()));
  t.grants.revoke(hold.id());
  changes = t.grants.take_changes();
  CHECK(changes.revoked == std::vector<std::string>{hold.id()});
  CHECK(t.grants.take_changes().empty());
}

TEST_CASE("a child of a caller over HTTP is limited by the rule of such callers with a grant") {
  Table t;
  const GrantHold hold = t.hold("{}");
  const GrantHold child = t.hold("{}", http, &hold);
  const auto of = [&](const char* rules) {
    return allowed(t.grants.rights_of(child, &policy_of(rules)->policy));
  };
  CHECK(of(R"({"uid":1000},{"http":true,"tools":["b_*"]})") == "b_read");
  CHECK(of(R"({"uid":1000},{"http":true,"grant":false})").empty());
  CHECK(of(R"({"uid":1000},{"http":false})").empty());
}

TEST_CASE("a calendar that is set back prolongs no grant, and one that is set forward ends it") {
  Table t;
  const auto first = t.issue(R"({"ttlMs":1000})");
  const GrantHold parent = t.hold(R"({"ttlMs":3000})");
  const auto child = t.issue(R"({"ttlMs":2000})", bob, &parent);
  CHECK(t.grants.next_expiry(t.now) == t.now.steady + 1s);
  const SteadyTime end = t.now.steady + 1s;
  t.now.wall -= 24h;
  CHECK(t.grants.next_expiry(t.now) == end);
  t.now.steady = end - 1ms;
  CHECK(t.state(first.string) == "ok");
  t.now.steady = end;
  CHECK(t.state(first.string) == "expired");
  CHECK(t.grants.expire(t.now).size() == 1);
  CHECK(t.state(first.string) == "expired");
  CHECK(t.grants.size() == 2);
  // A grant that was issued since then has its whole time.
  const auto late = t.issue(R"({"ttlMs":1000})");
  CHECK(t.grants.next_expiry(t.now) == end + 1s);
  t.now.wall += 23h;
  CHECK(t.state(late.string) == "expired");
  CHECK(t.state(child.string) == "ok");
  CHECK(t.grants.next_expiry(t.now) < t.now.steady);
  CHECK(t.grants.expire(t.now).size() == 1);
  // Through an upgrade.
  Table next;
  next.grants.set_key(GrantKey(t.grants.key().bytes()));
  next.now = t.now;
  next.grants.restore(t.grants.save(), next.now, t.grants.save_running());
  CHECK(next.state(child.string) == "ok");
  next.now.steady += 1s;
  CHECK(next.state(child.string) == "expired");
  CHECK(next.grants.expire(next.now).size() == 1);
  CHECK(next.grants.size() == 1);
}

TEST_CASE("an operation on one grant of many takes no longer than on one of few") {
  Table t;
  t.grants.set_most(40'000);
  const GrantHold parent = t.hold("{}");
  std::vector<std::string> ids;
  for (int i = 0; i < 19'000; ++i)
    ids.push_back(t.hold("{}", alice, i % 2 == 0 ? nullptr : &parent).id());
  for (const std::string& id : ids) CHECK(t.grants.revoke(id).size() == 1);
  CHECK(t.grants.size() == 1);
  CHECK(t.grants.revoke(parent.id()).size() == 1);
  CHECK(t.grants.revoke(parent.id()).empty());
}

TEST_CASE("only so many further rounds are not counted as calls were answered with questions") {
  Table t;
  const GrantHold hold = t.hold(R"({"calls":3})");
  CHECK_FALSE(t.grants.has_round(hold));
  t.grants.open_round(hold.id());
  t.grants.open_round("unknown");
  REQUIRE(t.grants.has_round(hold));
  t.grants.take_round(hold);
  CHECK_FALSE(t.grants.has_round(hold));
}

TEST_CASE("it is said if the issuer has too many groups for a string") {
  Table t;
  Peer peer = alice;
  for (gid_t group = 0; group < 800; ++group) peer.groups.push_back(1'000'000'000 + group);
  CHECK(contains(t.refusal("{}", peer), "this user has 800 supplementary ones"));
  peer.groups.resize(700);
  CHECK(t.refusal("{}", peer).empty());
}
