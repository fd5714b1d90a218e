#include "policy/item_rule.hpp"

#include <doctest/doctest.h>

#include <string>

using bridge::ItemRule;
using bridge::matches_glob;

TEST_CASE("a glob matches itself, * any characters, none and slashes too, ? one of any bytes") {
  using Pair = std::pair<const char*, const char*>;
  for (const auto& [glob, name] :
       {Pair{"search", "search"}, Pair{"*", ""}, Pair{"*", "docs://a/b"},
        Pair{"docs://*", "docs://a/b"}, Pair{"docs://*", "docs://"}, Pair{"*_read", "file_read"},
        Pair{"a*b*c", "a1b2b3c"}, Pair{"**a**", "bab"}, Pair{"a?c", "abc"},
        Pair{"a?c",
             "a\xC3\xA4"
             "c"},
        Pair{"*?", "\xE2\x82\xAC"}})
    CHECK_MESSAGE(matches_glob(glob, name), glob);
  for (const auto& [glob, name] :
       {Pair{"search", "search_all"}, Pair{"search", "sear"}, Pair{"search", "Search"},
        Pair{"search", ""}, Pair{"docs://*", "doc://a"}, Pair{"*_read", "file_read2"},
        Pair{"a*b*c", "a1b2b3"}, Pair{"a?c", "ac"}, Pair{"a?c", "abbc"}, Pair{"?", ""}})
    CHECK_FALSE_MESSAGE(matches_glob(glob, name), glob);
}

TEST_CASE("many stars take no more than the product of both lengths") {
  const std::string text(2000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  CHECK(matches_glob(pattern, text));
  CHECK_FALSE(matches_glob(pattern + "b", text));
}

TEST_CASE("a long name is not searched, and allowed by no glob at or behind one that would") {
  const std::string fits(ItemRule::longest_searched, 'a');
  const std::string longer = fits + 'a';
  for (const char* glob : {"*a*", "a*?"}) {
    CHECK(ItemRule::of_globs({glob}).allows(fits));
    CHECK_FALSE(ItemRule::of_globs({glob}).allows(longer));
    CHECK_FALSE(ItemRule::of_globs({"a*", glob}).allows(longer));
    CHECK(ItemRule::of_globs({glob, "a*"}).allows(longer));
  }
  CHECK_FALSE(ItemRule::of_globs({"*", "!*b*"}).allows(longer));
  CHECK(ItemRule::of_globs({"*", "!*b"}).allows(longer));
}

TEST_CASE("the last glob that matches wins") {
  const ItemRule rule =
      ItemRule::of_globs({"search_*", "read_*", "!read_secrets", "read_secrets_ok"});
  CHECK(rule.allows("search_web"));
  CHECK(rule.allows("read_file"));
  CHECK_FALSE(rule.allows("read_secrets"));
  CHECK(rule.allows("read_secrets_ok"));
  CHECK_FALSE(rule.allows("write_file"));
  const ItemRule again = ItemRule::of_globs({"!read_secrets", "read_*"});
  CHECK(again.allows("read_secrets"));
}

TEST_CASE("a glob with one star at an end matches as any other") {
  for (const char* glob :
       {"*", "a*", "*a", "ab*", "*ab", "*a*", "a*b", "*?", "?*", "*\xC3\xA4", "!*a"}) {
    const std::string pattern = glob[0] == '!' ? glob + 1 : glob;
    const bool takes_away = glob[0] == '!';
    const ItemRule rule = takes_away ? ItemRule::of_globs({"*", glob}) : ItemRule::of_globs({glob});
    for (const char* name :
         {"", "a", "b", "ab", "ba", "aab", "aba", "\xC3\xA4", "x\xC3\xA4", "a*"}) {
      INFO(glob << " and " << name);
      CHECK(rule.allows(name) == (matches_glob(pattern, name) != takes_away));
    }
  }
}

TEST_CASE("a list of only ! allows nothing, and an empty one neither") {
  for (const ItemRule& rule : {ItemRule::of_globs({"!rm"}), ItemRule::of_globs({})}) {
    CHECK_FALSE(rule.allows("rm"));
    CHECK_FALSE(rule.allows("ls"));
    CHECK_FALSE(rule.allows_all());
    CHECK_FALSE(rule.allows_some());
  }
}

TEST_CASE("what is left out allows all") {
  CHECK(ItemRule().allows_all());
  CHECK(ItemRule().allows("anything"));
}

TEST_CASE("read-only allows what is known to read only") {
  CHECK(ItemRule::read_only().allows("a", true));
  CHECK_FALSE(ItemRule::read_only().allows("a", false));
  CHECK_FALSE(ItemRule::read_only().allows_all());
}
