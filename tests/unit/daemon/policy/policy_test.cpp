#include "policy/policy.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "../../temporary_folder.hpp"
#include "../../words.hpp"

using namespace bridge;

namespace {

const AccountNames accounts{[](const std::string& name) -> std::optional<uid_t> {
                              if (name == "root" || name == "0") return 0;
                              if (name == "agent") return 1000;
                              if (name == "1001") return 1001;
                              return std::nullopt;
                            },
                            [](const std::string& name) -> std::optional<gid_t> {
                              if (name == "0") return 0;
                              if (name == "ci") return 50;
                              if (name == "51") return 51;
                              return std::nullopt;
                            }};

Policy policy_of(const std::string& text) {
  auto read = Policy::read(text, accounts);
  if (const auto* fault = std::get_if<std::string>(&read)) FAIL(*fault);
  return std::get<Policy>(std::move(read));
}

std::string fault_of(const std::string& text) {
  const auto read = Policy::read(text, accounts);
  const auto* fault = std::get_if<std::string>(&read);
  return fault != nullptr ? *fault : "";
}

Peer process(uid_t uid, gid_t gid = 100, std::vector<gid_t> groups = {}) {
  return {false, uid, gid, std::move(groups)};
}

Peer http() { return {true, 0, 0, {}}; }

const std::string example = R"({"rules": [
  // the operator
  {"uid": "root"},
  {"uid": ["agent", 1001], "tools": ["search_*", "read_*", "!read_secrets"],
   "resources": ["docs://*"], "prompts": [], "rate": "60/1m", "inflight": 4},
  {"gid": "ci", "tools": "read-only"},
  {"http": true, "tools": ["search_*"]},
]})";

std::string fault_of_file(const std::string& path) {
  const auto read = read_policy_file(path, accounts);
  const auto* const fault = std::get_if<std::string>(&read);
  return fault != nullptr ? *fault : "";
}

}  // namespace

TEST_CASE("the first rule that matches a peer holds") {
  const Policy policy = policy_of(example);
  CHECK(policy.size() == 4);
  CHECK(policy.rule_for(process(0)).number == 1);
  CHECK(policy.rule_for(process(1000)).number == 2);
  CHECK(policy.rule_for(process(1001, 50)).number == 2);
  CHECK(policy.rule_for(process(7, 50)).number == 3);
  CHECK(policy.rule_for(process(7, 8, {9, 50})).number == 3);
  CHECK(policy.rule_for(http()).number == 4);
}

TEST_CASE("a peer that no rule matches has the rule that allows nothing") {
  const Policy policy = policy_of(example);
  CHECK(policy.rule_for(process(7)).is_none());
  CHECK(policy.rule_for(process(7, 8, {9})).is_none());
  CHECK(policy_of(R"({"rules":[]})").rule_for(process(0)).is_none());
  CHECK(policy_of(R"({"rules":[{"uid":"root"}]})").rule_for(http()).is_none());
}

TEST_CASE("every condition of a rule has to match; a caller of HTTP has no uid and no group") {
  struct Row {
    const char* rules;
    Peer peer;
    int number;  // 0: none
  };
  const char* const both = R"([{"uid":"agent","gid":"ci"}])";
  const char* const not_http = R"([{"uid":0},{"gid":0},{"http":false}])";
  for (const Row& row :
       {Row{both, process(1000, 50), 1}, Row{both, process(1000, 1, {50}), 1},
        Row{both, process(1000, 51), 0}, Row{both, process(1001, 50), 0},
        Row{"[{}]", process(7), 1}, Row{"[{}]", http(), 1}, Row{not_http, process(7), 3},
        Row{not_http, http(), 0}, Row{R"([{"uid":[]}])", process(0), 0},
        Row{R"([{"gid":[]}])", process(0), 0}}) {
    CAPTURE(row.rules);
    const Policy policy = policy_of(R"({"rules":)" + std::string(row.rules) + "}");
    const PolicyRule& rule = policy.rule_for(row.peer);
    CHECK(rule.is_none() == (row.number == 0));
    if (row.number != 0) CHECK(rule.number == row.number);
  }
}

TEST_CASE("what a rule restricts") {
  const Policy policy = policy_of(example);
  CHECK(policy.rule_for(process(0)).restricts_nothing());
  const PolicyRule& agent = policy.rule_for(process(1000));
  CHECK_FALSE(agent.restricts_nothing());
  CHECK(agent.tools.allows("read_file"));
  CHECK_FALSE(agent.tools.allows("read_secrets"));
  CHECK_FALSE(agent.prompts.allows("any"));
  CHECK(agent.methods.allows_all());
  CHECK(agent.rate->burst == 60);
  CHECK(agent.rate->period == std::chrono::minutes(1));
  CHECK(agent.inflight == 4);
  CHECK(policy.rule_for(process(7, 50)).tools.wants_read_only());
}

TEST_CASE("a rule knows its number and the line where it begins") {
  const Policy policy = policy_of(example);
  CHECK(policy.rule_for(process(0)).line == 3);
  CHECK(policy.rule_for(process(1000)).line == 4);
  CHECK(policy.rule_for(http()).line == 7);
}

TEST_CASE("a rate alone restricts no item") {
  CHECK(policy_of(R"({"rules":[{"rate":"1/1s"}]})").rule_for(http()).restricts_nothing());
}

TEST_CASE("what is wrong in a file is told with its line") {
  CHECK(fault_of("{\"rules\":[\n{\"uid\":\"nobody-here\"}]}") ==
        "line 2: unknown user 'nobody-here'");
  CHECK(fault_of(R"({"rules":[{"gid":["ci","x"]}]})") == "line 1: unknown group 'x'");
  CHECK(fault_of("{\"rules\":[\n{\n\"tool\":[]}]}")
            .starts_with("line 3: unknown member 'tool'; known"));
  CHECK(fault_of(R"({"rule":[]})").starts_with("line 1: unknown member 'rule'"));
  CHECK(fault_of("{}") == "a policy needs \"rules\", a list");
  CHECK(fault_of("\n{\"rules\":[}") == "line 2, column 11: not JSON");
  CHECK(fault_of("") == "line 1, column 1: not JSON");
  CHECK(fault_of("[]") == "line 1: a policy is an object");
  CHECK(fault_of("{\"rules\":[]} x") == "line 1, column 14: not JSON");
  CHECK(fault_of("{\"rules\":[\"\xFF\"]}") == "not UTF-8");
}

TEST_CASE("values of another form are refused") {
  for (const std::string& rule : words(R"--(
           {"uid":null} {"uid":true} {"uid":-1} {"uid":1.5} {"uid":[["x"]]} {"http":"yes"}
           {"tools":"search_*"} {"tools":[1]} {"tools":[""]} {"tools":["!"]} {"tools":null}
           {"prompts":"read-only"} {"resources":{}} {"methods":"*"} {"rate":"60"}
           {"rate":60} {"rate":"0/1m"} {"rate":"1/0s"} {"rate":"-1/1s"} {"rate":"1/x"}
           {"rate":"9000000000/1s"} {"inflight":0} {"inflight":"4"} {"inflight":1.5}
           {"uid":0,"uid":0} "x" [])--"))
    CHECK_MESSAGE(fault_of("{\"rules\":[" + rule + "]}") != "", rule);
  CHECK(fault_of(R"({"rules":{}})") == "line 1: rules is a list");
  CHECK(fault_of(R"({"rules":[],"rules":[]})") == "line 1: duplicate member 'rules'");
}

TEST_CASE("a policy's file is kept with its text, and what its rules say") {
  const TemporaryFolder folder;
  const std::string text = "// who\n{\"rules\":[{\"uid\":1001},]}\n";
  const std::string path = folder.write("p.json", text);
  const auto read = read_policy_file(path, accounts);
  const PolicyFile& file = std::get<PolicyFile>(read);
  CHECK(file.path == path);
  CHECK(file.text == text);
  CHECK(file.policy.rule_for(process(1001)).line == 2);
}

TEST_CASE("a file that group or others can write is refused, and one that they can read is not") {
  const TemporaryFolder folder;
  for (const mode_t mode : {0620, 0602, 0666})
    CHECK(fault_of_file(folder.write("p.json", "{\"rules\":[]}", mode))
              .find("other users can write to it") != std::string::npos);
  for (const mode_t mode : {0600, 0644, 0755})
    CHECK(fault_of_file(folder.write("p.json", "{\"rules\":[]}", mode)).empty());
}

TEST_CASE("a file of another user is refused, but for root's") {
  const TemporaryFolder folder;
  const std::string path = folder.write("p.json", "{\"rules\":[]}");
  if (geteuid() != 0) return;  // only root can change a file's owner
  REQUIRE(chown(path.c_str(), 12345, 0) == 0);
  CHECK(fault_of_file(path).find("belongs to uid 12345") != std::string::npos);
  REQUIRE(chown(path.c_str(), 0, 12345) == 0);
  CHECK(fault_of_file(path).empty());
}

TEST_CASE("what cannot be read is told with the file's name and the line") {
  const TemporaryFolder folder;
  const std::string path = folder.write("p.json", "{\"rules\":[\n{\"uid\":\"x\"}]}");
  CHECK(fault_of_file(path) == "--policy: " + path + ": line 2: unknown user 'x'");
  CHECK(fault_of_file(folder.path("none")).starts_with("--policy: "));
  CHECK(fault_of_file(folder.path()).find("not a regular file") != std::string::npos);
  CHECK_FALSE(
      fault_of_file(folder.write("p.json", std::string(PolicyFile::longest + 1, ' '))).empty());
}
