// Which files a policy is read from: it decides about permissions, so only its owner may write it.
#include "policy/policy.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace bridge;

namespace {

struct PolicyFolder {
  PolicyFolder() {
    char name[] = "/tmp/policy-XXXXXX";
    path = mkdtemp(name);
  }
  ~PolicyFolder() { std::filesystem::remove_all(path); }
  PolicyFolder(const PolicyFolder&) = delete;
  PolicyFolder& operator=(const PolicyFolder&) = delete;

  std::string put(const std::string& text, mode_t mode = 0644) const {
    std::ofstream(path / "p.json") << text;
    chmod((path / "p.json").c_str(), mode);
    return path / "p.json";
  }
  std::filesystem::path path;
};

const AccountNames nobody_known{
    [](const std::string& name) -> std::optional<uid_t> {
      return name == "7" ? std::optional<uid_t>(7) : std::nullopt;
    },
    [](const std::string&) -> std::optional<gid_t> { return std::nullopt; }};

std::string fault_of(const std::string& path) {
  const auto read = read_policy_file(path, nobody_known);
  const auto* const fault = std::get_if<std::string>(&read);
  return fault != nullptr ? *fault : "";
}

}  // namespace

TEST_CASE("a policy's file is kept with its text, and what its rules say") {
  const PolicyFolder folder;
  const std::string text = "// who\n{\"rules\":[{\"uid\":7},]}\n";
  const std::string path = folder.put(text);
  const auto read = read_policy_file(path, nobody_known);
  REQUIRE(std::holds_alternative<PolicyFile>(read));
  const PolicyFile& file = std::get<PolicyFile>(read);
  CHECK(file.path == path);
  CHECK(file.text == text);
  CHECK(file.policy.rule_for({false, 7, 0, {}}).line == 2);
}

TEST_CASE("a file that group or others can write is refused, and one that they can read is not") {
  const PolicyFolder folder;
  for (const mode_t mode : {0620, 0602, 0666})
    CHECK(fault_of(folder.put("{\"rules\":[]}", mode)).find("other users can write to it") !=
          std::string::npos);
  for (const mode_t mode : {0600, 0644, 0755})
    CHECK(fault_of(folder.put("{\"rules\":[]}", mode)).empty());
}

TEST_CASE("a file of another user is refused, but for root's") {
  const PolicyFolder folder;
  const std::string path = folder.put("{\"rules\":[]}");
  if (geteuid() != 0) return;  // only root can change a file's owner
  REQUIRE(chown(path.c_str(), 12345, 0) == 0);
  CHECK(fault_of(path).find("belongs to uid 12345") != std::string::npos);
  REQUIRE(chown(path.c_str(), 0, 12345) == 0);
  CHECK(fault_of(path).empty());
}

TEST_CASE("what cannot be read is told with the file's name and the line") {
  const PolicyFolder folder;
  const std::string path = folder.put("{\"rules\":[\n{\"uid\":\"x\"}]}");
  CHECK(fault_of(path) == "--policy: " + path + ": line 2: unknown user 'x'");
  CHECK(fault_of(folder.path / "none").starts_with("--policy: "));
  CHECK(fault_of(folder.path).find("not a regular file") != std::string::npos);
  CHECK_FALSE(fault_of(folder.put(std::string(PolicyFile::longest + 1, ' '))).empty());
}
