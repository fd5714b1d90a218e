#include "policy/subject.hpp"

#include <doctest/doctest.h>

#include <string>

using bridge::allows;
using bridge::denial;
using bridge::ItemRule;
using bridge::PolicyRule;
using bridge::Subject;
using bridge::subject_of;
using bridge::ToolList;

namespace {

using Kind = Subject::Kind;

PolicyRule rule() {
  PolicyRule rule;
  rule.number = 1;
  rule.line = 4;
  rule.tools = ItemRule::of_globs({"read_*"});
  rule.prompts = ItemRule::of_globs({"hello"});
  rule.resources = ItemRule::of_globs({"docs://*"});
  rule.methods = ItemRule::of_globs({"logging/*"});
  return rule;
}

bool may(const PolicyRule& rule, const std::string& method, const std::string& params = "{}",
         const ToolList& tools = {}) {
  return allows(rule, subject_of(method, params), tools);
}

}  // namespace

TEST_CASE("a call is judged by its tool") {
  CHECK(may(rule(), "tools/call", R"({"name":"read_file","arguments":{"name":"rm"}})"));
  CHECK_FALSE(may(rule(), "tools/call", R"({"name":"rm","arguments":{"name":"read_file"}})"));
  CHECK(may(rule(), "tools/call", R"({"n\u0061me":"read_\u0066ile"})"));
}

TEST_CASE("prompts and resources are judged by name and uri") {
  CHECK(may(rule(), "prompts/get", R"({"name":"hello"})"));
  CHECK_FALSE(may(rule(), "prompts/get", R"({"name":"bye"})"));
  for (const char* method : {"resources/read", "resources/subscribe", "resources/unsubscribe"}) {
    CHECK(may(rule(), method, R"({"uri":"docs://a/b"})"));
    CHECK_FALSE(may(rule(), method, R"({"uri":"file:///etc"})"));
  }
}

TEST_CASE("a completion is judged by what it is about") {
  CHECK(may(rule(), "completion/complete", R"({"ref":{"type":"ref/prompt","name":"hello"}})"));
  CHECK_FALSE(may(rule(), "completion/complete", R"({"ref":{"type":"ref/prompt","name":"bye"}})"));
  CHECK(may(rule(), "completion/complete",
            R"({"ref":{"type":"ref/resource","uri":"docs://{path}"}})"));
  CHECK_FALSE(may(rule(), "completion/complete",
                  R"({"ref":{"type":"ref/resource","uri":"file:///{path}"}})"));
  CHECK_FALSE(may(rule(), "completion/complete", R"({"ref":{"type":"ref/new","name":"hello"}})"));
  CHECK_FALSE(may(rule(), "completion/complete", "{}"));
}

TEST_CASE("every other method that is forwarded is judged by itself") {
  CHECK(may(rule(), "logging/setLevel"));
  CHECK_FALSE(may(rule(), "tasks/get"));
  CHECK_FALSE(may(rule(), "vendor/thing"));
}

TEST_CASE("what names its item twice, or not, is not allowed where items are restricted") {
  for (const char* params :
       {R"({"name":"read_a","name":"rm"})", R"({"name":"rm","n\u0061me":"read_a"})", "{}", "",
        R"({"name":1})", R"({"name":null})", "[]"})
    CHECK_FALSE_MESSAGE(may(rule(), "tools/call", params), params);
  CHECK_FALSE(may(rule(), "completion/complete",
                  R"({"ref":{"type":"ref/prompt","name":"hello"},"ref":{"type":"ref/prompt"}})"));
  CHECK_FALSE(may(rule(), "completion/complete",
                  R"({"ref":{"type":"ref/prompt","name":"hello","name":"bye"}})"));
  // Some parsers take a member in another case for it, and the last one counts.
  for (const char* params :
       {R"({"name":"read_a","Name":"rm"})", R"({"NAME":"rm","name":"read_a"})",
        R"({"name":"read_a","\u004eame":"rm"})", R"({"name":"read_a","name\u0000":"rm"})",
        R"({"name":"read_a\u0000"})"})
    CHECK_FALSE_MESSAGE(may(rule(), "tools/call", params), params);
  CHECK_FALSE(may(rule(), "completion/complete",
                  R"({"ref":{"type":"ref/prompt","name":"hello"},"Ref":{}})"));
  CHECK_FALSE(may(rule(), "completion/complete",
                  R"({"ref":{"type":"ref/prompt","name":"hello","Name":"bye"}})"));
  CHECK(may(rule(), "tools/call", R"({"name":"read_a","names":"rm","nam":1})"));
  PolicyRule open;
  open.number = 1;
  CHECK(may(open, "tools/call", R"({"name":"a","name":"b"})"));
  CHECK(may(open, "tools/call", "{}"));
}

TEST_CASE("lists and the session's methods pass: what is in a list is filtered") {
  for (const char* method :
       {"tools/list", "prompts/list", "resources/list", "resources/templates/list",
        "subscriptions/listen", "initialize", "ping", "server/discover"})
    CHECK_MESSAGE(may(rule(), method), method);
}

TEST_CASE("a peer without a rule may only ping and open its session") {
  const PolicyRule none;
  for (const char* method : {"initialize", "ping", "server/discover"}) CHECK(may(none, method));
  for (const char* method : {"tools/list", "tools/call", "resources/read", "logging/setLevel",
                             "subscriptions/listen", "completion/complete"})
    CHECK_FALSE(may(none, method, R"({"name":"a","uri":"a"})"));
}

TEST_CASE("read-only is what the kept list says; a tool that is not known is not") {
  PolicyRule reader;
  reader.number = 1;
  reader.tools = ItemRule::read_only();
  ToolList tools;
  const std::string call = R"({"name":"get"})";
  CHECK_FALSE(may(reader, "tools/call", call, tools));
  tools.take_page("", R"({"tools":[{"name":"get","annotations":{"readOnlyHint":true}},)"
                      R"({"name":"put","annotations":{"readOnlyHint":false}},{"name":"old"},)"
                      R"({"name":"odd","annotations":{"readOnlyHint":"true"}}]})");
  CHECK(may(reader, "tools/call", call, tools));
  for (const char* name : {"put", "old", "odd", "new"})
    CHECK_FALSE_MESSAGE(
        may(reader, "tools/call", R"({"name":")" + std::string(name) + "\"}", tools), name);
}

TEST_CASE("the daemon's own user is told the file and the line, others what to do") {
  const Subject tool = subject_of("tools/call", R"({"name":"rm"})");
  CHECK(denial(rule(), tool, "") ==
        "tool 'rm' is not allowed for this user; ask the operator of this daemon to allow it");
  CHECK(
      denial(rule(), tool, "/etc/p.json") ==
      "tool 'rm' is not allowed by the rule in /etc/p.json, line 4; change it and send the daemon "
      "SIGHUP");
  CHECK(denial(PolicyRule(), tool, "") ==
        "the policy of this daemon allows this user nothing; ask its operator for a rule");
  CHECK(denial(PolicyRule(), tool, "/etc/p.json") ==
        "no rule in /etc/p.json matches this user; add one and send the daemon SIGHUP");
}
