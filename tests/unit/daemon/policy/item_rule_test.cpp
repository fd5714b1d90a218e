#include "policy/item_rule.hpp"

#include <doctest/doctest.h>

#include <string>

using bridge::ItemRule;
using bridge::matches_glob;

TEST_CASE("a glob without * and ? matches itself alone") {
  CHECK(matches_glob("search", "search"));
  CHECK_FALSE(matches_glob("search", "search_all"));
  CHECK_FALSE(matches_glob("search", "sear"));
  CHECK_FALSE(matches_glob("search", "Search"));
  CHECK_FALSE(matches_glob("search", ""));
}

TEST_CASE("* matches any characters, none and slashes too") {
  CHECK(matches_glob("*", ""));
  CHECK(matches_glob("*", "docs://a/b"));
  CHECK(matches_glob("docs://*", "docs://a/b"));
  CHECK(matches_glob("docs://*", "docs://"));
  CHECK_FALSE(matches_glob("docs://*", "doc://a"));
  CHECK(matches_glob("*_read", "file_read"));
  CHECK_FALSE(matches_glob("*_read", "file_read2"));
  CHECK(matches_glob("a*b*c", "a1b2b3c"));
  CHECK_FALSE(matches_glob("a*b*c", "a1b2b3"));
  CHECK(matches_glob("**a**", "bab"));
}

TEST_CASE("? matches one character, however many bytes it has") {
  CHECK(matches_glob("a?c", "abc"));
  CHECK(matches_glob("a?c",
                     "a\xC3\xA4"
                     "c"));
  CHECK_FALSE(matches_glob("a?c", "ac"));
  CHECK_FALSE(matches_glob("a?c", "abbc"));
  CHECK(matches_glob("*?", "\xE2\x82\xAC"));
  CHECK_FALSE(matches_glob("?", ""));
}

TEST_CASE("many stars take no more than the product of both lengths") {
  const std::string text(2000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  CHECK(matches_glob(pattern, text));
  CHECK_FALSE(matches_glob(pattern + "b", text));
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
