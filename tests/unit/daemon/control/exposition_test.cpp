#include "control/exposition.hpp"

#include <doctest/doctest.h>

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
