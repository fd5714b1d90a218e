// The text of metrics, and the file that it is written to.
#include "control/exposition.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "../../temporary_folder.hpp"
#include "control/metrics.hpp"

using namespace bridge;

TEST_CASE("families are written with help, type, and the common labels first") {
  const Labels common = {{"socket", "/run/a.sock"}};
  Exposition out(common);
  out.counter("things_total", "Things.", 3);
  out.family(MetricKind::gauge, "clients", "Clients now.");
  out.sample(2, {{"kind", "unix"}});
  out.sample(0, {{"kind", "http"}});
  CHECK(out.text() ==
        "# HELP things_total Things.\n"
        "# TYPE things_total counter\n"
        "things_total{socket=\"/run/a.sock\"} 3\n"
        "# HELP clients Clients now.\n"
        "# TYPE clients gauge\n"
        "clients{socket=\"/run/a.sock\",kind=\"unix\"} 2\n"
        "clients{socket=\"/run/a.sock\",kind=\"http\"} 0\n");
}

TEST_CASE("a histogram has cumulative buckets up to infinity, a sum and a count") {
  Exposition out(Labels{});
  out.family(MetricKind::histogram, "wait_seconds", "Waiting.");
  out.histogram({{0.001, 1}, {0.1, 4}}, 5, 2.5, {{"class", "call"}});
  CHECK(out.text() ==
        "# HELP wait_seconds Waiting.\n"
        "# TYPE wait_seconds histogram\n"
        "wait_seconds_count{class=\"call\"} 5\n"
        "wait_seconds_sum{class=\"call\"} 2.5\n"
        "wait_seconds_bucket{class=\"call\",le=\"0.001\"} 1\n"
        "wait_seconds_bucket{class=\"call\",le=\"0.1\"} 4\n"
        "wait_seconds_bucket{class=\"call\",le=\"+Inf\"} 5\n");
}

TEST_CASE("what a label cannot hold as it is is escaped") {
  const Labels common = {{"socket", "a\"b\\c\nd"}};
  Exposition out(common);
  out.gauge("one", "One.", 1);
  CHECK(out.text().find(R"(one{socket="a\"b\\c\nd"} 1)") != std::string::npos);
}

namespace {

std::ptrdiff_t entries(const TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.folder), {});
}

std::string content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a file is replaced whole, readable by all, with nothing left beside it") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bridge.prom");
  const mode_t before = umask(077);
  CHECK(replace_file(path, "one\n").empty());
  struct stat first {};
  REQUIRE(stat(path.c_str(), &first) == 0);
  CHECK(replace_file(path, "two\n").empty());
  umask(before);
  struct stat second {};
  REQUIRE(stat(path.c_str(), &second) == 0);
  CHECK((second.st_mode & 07777) == 0644);
  CHECK(content(path) == "two\n");
  CHECK(entries(folder) == 1);
}

TEST_CASE("a file that cannot be written is said, and nothing is left") {
  const TemporaryFolder folder;
  CHECK(replace_file(folder.path("nowhere/bridge.prom"), "x") == "No such file or directory");
  std::filesystem::create_directory(folder.path("bridge.prom"));
  CHECK(replace_file(folder.path("bridge.prom"), "x") == "Is a directory");
  CHECK(entries(folder) == 1);
}

TEST_CASE("what stands where the file is prepared is neither written to nor waited for") {
  const TemporaryFolder folder;
  const std::string path = folder.path("bridge.prom");
  const std::string prepared = path + "." + std::to_string(getpid());
  REQUIRE(mkfifo(prepared.c_str(), 0600) == 0);
  CHECK(replace_file(path, "one\n").empty());
  CHECK(content(path) == "one\n");

  const std::string victim = folder.path("victim");
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, prepared);
  CHECK(replace_file(path, "two\n").empty());
  std::filesystem::create_hard_link(victim, prepared);
  CHECK(replace_file(path, "three\n").empty());
  CHECK(content(victim) == "precious");
  CHECK(content(path) == "three\n");

  std::filesystem::create_directory(prepared);
  CHECK(replace_file(path, "four\n") == "Is a directory");
  CHECK(content(path) == "three\n");
}
