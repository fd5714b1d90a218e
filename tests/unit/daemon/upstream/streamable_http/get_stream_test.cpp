// BEHAVIOUR, "Streamable HTTP: server stream".
#include "upstream/streamable_http/get_stream.hpp"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const SteadyTime start{1000s};

}  // namespace

TEST_CASE("a stream that was good is opened again at once, but not twice in half a second") {
  StreamPace pace;
  pace.begin(start);
  CHECK(pace.next(start + 1min, false) == start + 1min);
  CHECK(pace.next(start + 100ms, false) == start + 525ms);
  CHECK(pace.earliest(start + 100ms) == start + 525ms);
  CHECK(pace.earliest(start + 1s) == start + 1s);
}

TEST_CASE("the first failure costs nothing, then the delays grow, until a stream was good") {
  StreamPace pace;
  pace.begin(start);
  const SteadyTime now = start + 1min;
  CHECK(pace.failed(-1));
  CHECK(pace.next(now, true) == now);
  CHECK(pace.failed(-1));
  const auto second = pace.next(now, true) - now;
  CHECK(second >= 375ms);
  CHECK(second <= 500ms);
  for (int i = 0; i < 10; ++i) {
    CHECK(pace.failed(-1));
    pace.next(now, true);
  }
  CHECK(pace.next(now, true) - now >= 22500ms);
  CHECK(pace.next(now, false) == now);
  pace.was_good();
  CHECK(pace.failed(-1));
  CHECK(pace.next(now, true) == now);
}

TEST_CASE("it is given up after so many failures in a row") {
  StreamPace pace;
  CHECK(pace.failed(2));
  CHECK(!pace.failed(2));
  pace.was_good();
  CHECK(pace.failed(2));
  CHECK(!pace.failed(1));
}

TEST_CASE("what the server wants is the least, a Retry-After once, and neither in a new session") {
  StreamPace pace;
  const SteadyTime now = start + 1min;
  pace.begin(start);
  pace.set_retry(3s);
  CHECK(pace.next(now, false) == now + 3s);
  pace.wait_once(10s);
  CHECK(pace.next(now, false) == now + 10s);
  CHECK(pace.next(now, false) == now + 3s);
  pace.wait_once(1h);
  CHECK(pace.next(now, false) == now + 5min);
  pace.set_retry(100h);
  CHECK(pace.next(now, false) == now + 1h);
  pace.wait_once(1min);
  pace.reset();
  CHECK(pace.next(now, false) == now);
}

TEST_CASE("a stream that lived for 30 s was of use whatever came on it") {
  StreamPace pace;
  pace.begin(start);
  CHECK(!pace.has_lived_long(start + 29s));
  CHECK(pace.has_lived_long(start + 30s));
}
