#include "verbs/search.hpp"

#include <doctest/doctest.h>

using namespace client;

TEST_CASE("what a server's search gave comes back from its process as it was") {
  const SearchOutcome found{{true, "@a tool x\n", R"("tools":[{"name":"x"}])"}};
  const SearchOutcome read = read_outcome(outcome_text(found));
  CHECK(read.hits.has_any);
  CHECK(read.hits.text == found.hits.text);
  CHECK(read.hits.json == found.hits.json);
  CHECK(read.why.empty());
  const SearchOutcome failed = read_outcome(outcome_text({{}, "no answer in time", true}));
  CHECK(failed.why == "no answer in time");
  CHECK(failed.was_interrupted);
  CHECK(read_outcome("").why == "its search came to nothing");
}
