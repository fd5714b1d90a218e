#include "policy/subject.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/log.hpp"
#include "json/json_text.hpp"
#include "json/member_names.hpp"

namespace bridge {
namespace {

/// Notes a member of the params that is to stand there once, a string.
class NamedOnce {
 public:
  void found(std::string_view raw_value) {
    is_clear_ = is_clear_ && !value_ && is_string(raw_value) &&
                is_clear_text(raw_value.substr(1, raw_value.size() - 2));
    value_ = raw_value;
  }
  /// A member that another parser could take for it.
  void found_similar() { is_clear_ = false; }
  bool is_clear() const { return value_ && is_clear_; }
  std::string text() const { return value_ ? to_text(*value_).value_or("") : std::string(); }

 private:
  std::optional<std::string_view> value_;
  bool is_clear_ = true;
};

/// Takes the member if it is that one.
void look_at(std::string_view key, std::string_view value, std::string_view name,
             NamedOnce& named) {
  if (key_is(key, name)) {
    named.found(value);
  } else if (is_similar_name(key, name)) {
    named.found_similar();
  }
}

Subject named_by(Subject::Kind kind, std::string_view params, std::string_view member) {
  NamedOnce named;
  each_member(params, [&](std::string_view key, std::string_view value) {
    look_at(key, value, member, named);
    return true;
  });
  return {kind, named.text(), named.is_clear()};
}

/// A completion is about the prompt or the template that its `ref` names (MCP 2025-11-25,
/// "Completion").
Subject completed(std::string_view params) {
  std::string_view ref;
  bool is_clear = true;
  each_member(params, [&](std::string_view key, std::string_view value) {
    if (!key_is(key, "ref")) {
      is_clear = is_clear && !is_similar_name(key, "ref");
      return true;
    }
    is_clear = is_clear && ref.empty();
    ref = value;
    return true;
  });
  NamedOnce type;
  NamedOnce name;
  NamedOnce uri;
  each_member(ref, [&](std::string_view key, std::string_view value) {
    look_at(key, value, "type", type);
    look_at(key, value, "name", name);
    look_at(key, value, "uri", uri);
    return true;
  });
  is_clear = is_clear && type.is_clear();
  if (type.text() == "ref/prompt")
    return {Subject::Kind::prompt, name.text(), is_clear && name.is_clear()};
  const bool is_resource = type.text() == "ref/resource";
  return {Subject::Kind::resource, uri.text(), is_clear && is_resource && uri.is_clear()};
}

const ItemRule& items(const PolicyRule& rule, Subject::Kind kind) {
  switch (kind) {
    case Subject::Kind::tool: return rule.tools;
    case Subject::Kind::prompt: return rule.prompts;
    case Subject::Kind::resource: return rule.resources;
    default: return rule.methods;
  }
}

std::string_view name_of(Subject::Kind kind) {
  switch (kind) {
    case Subject::Kind::tool: return "tool";
    case Subject::Kind::prompt: return "prompt";
    case Subject::Kind::resource: return "resource";
    default: return "method";
  }
}

}  // namespace

Subject subject_of(std::string_view method, std::string_view params) {
  using Kind = Subject::Kind;
  if (method == "tools/call") return named_by(Kind::tool, params, "name");
  if (method == "prompts/get") return named_by(Kind::prompt, params, "name");
  if (method == "resources/read" || method == "resources/subscribe" ||
      method == "resources/unsubscribe")
    return named_by(Kind::resource, params, "uri");
  if (method == "completion/complete") return completed(params);
  if (method == "initialize" || method == "ping" || method == "server/discover")
    return {Kind::session, std::string(method)};
  if (method == "tools/list" || method == "prompts/list" || method == "resources/list" ||
      method == "resources/templates/list" || method == "subscriptions/listen")
    return {Kind::list, std::string(method)};
  return {Kind::method, std::string(method)};
}

bool tool_reads_only(std::string_view tool) {
  const std::string_view annotations = find_member(tool, "annotations").value_or("");
  return is_object(annotations) && find_member(annotations, "readOnlyHint") == "true";
}

bool reads_only(const ToolList& tools, std::string_view name) {
  const std::string_view tool = tools.find(name);
  return !tool.empty() && tool_reads_only(tool);
}

bool allows(const PolicyRule& rule, const Subject& subject, const ToolList& tools) {
  if (subject.kind == Subject::Kind::session) return true;
  if (rule.is_none()) return false;
  if (subject.kind == Subject::Kind::list) return true;
  const ItemRule& all = items(rule, subject.kind);
  if (all.allows_all()) return true;
  if (!subject.is_clear) return false;
  return all.allows(subject.name, all.wants_read_only() && reads_only(tools, subject.name));
}

std::string denial(const PolicyRule& rule, const Subject& subject, std::string_view file) {
  const std::string shown = file.empty() ? std::string() : printable(file);
  if (!rule.ended.empty()) return std::string(rule.ended);
  if (rule.is_none() && rule.is_of_grant)
    return "the policy of this daemon allows nothing with this grant: no rule matches one of its "
           "issuers";
  if (rule.is_none()) {
    return file.empty()
               ? "the policy of this daemon allows this user nothing; ask its operator for "
                 "a rule"
               : fmt::format(
                     "no rule in {} matches this user; add one and send the daemon "
                     "SIGHUP",
                     shown);
  }
  const ItemRule& all = items(rule, subject.kind);
  std::string what = subject.is_clear
                         ? fmt::format("{} '{}' is not allowed", name_of(subject.kind),
                                       printable(subject.name, 80))
                         : fmt::format("the request does not name one {}, which the policy judges",
                                       name_of(subject.kind));
  if (subject.is_clear && all.wants_read_only())
    what += " (only tools that tools/list marks with readOnlyHint are)";
  if (rule.is_of_grant)
    return what + " with this grant; ask for one that allows it, where this one came from";
  if (file.empty()) return what + " for this user; ask the operator of this daemon to allow it";
  return fmt::format("{} by the rule in {}, line {}; change it and send the daemon SIGHUP", what,
                     shown, rule.line);
}

}  // namespace bridge
