#include "schema/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "json/text.hpp"
#include "schema/convert.hpp"
#include "schema/signature.hpp"
#include "spelling/shell_word.hpp"
#include "text/whole_characters.hpp"

namespace client {
namespace {

using json::Value;

constexpr std::size_t longest_shown = 60;

std::string shown(std::string_view text) {
  const std::string word = shell_word(bridge::whole_characters(text, longest_shown));
  return text.size() <= longest_shown ? word : word + "...";
}

/// The type that is wanted, and an argument that has it.
std::string expected(std::string_view name, const Schema& schema) {
  return fmt::format("{} expected, for example {}", schema.describe(),
                     example_argument(name, schema));
}

/// Where a name leads.
struct Place {
  std::vector<std::string> path;
  std::optional<Schema> schema;  ///< nothing is said of it
  std::string problem;           ///< "" = none
};

Place place_of(std::string_view name, const Schema& schema, const std::string& prefix = {}) {
  Place place;
  if (const Value* listed = schema.listed_property(name)) {
    place.path.emplace_back(name);
    place.schema = schema.at(*listed);
    return place;
  }
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    const std::string_view head = name.substr(0, dot);
    const Value* const listed = schema.listed_property(head);
    if (listed == nullptr || dot + 1 == name.size()) continue;
    const Schema inner = schema.at(*listed);
    if (!inner.allows_type("object")) {
      place.problem = fmt::format("unknown argument '{}': {} is not an object but {}", name, head,
                                  inner.describe());
      return place;
    }
    place = place_of(name.substr(dot + 1), inner, fmt::format("{}{}.", prefix, head));
    place.path.insert(place.path.begin(), std::string(head));
    return place;
  }
  place.path = {std::string(name)};
  if (schema.other_names() != Schema::OtherNames::allowed) {
    place.problem = unknown_argument(prefix, name, schema.names());
  } else if (const Value* others = schema.property(name)) {
    place.schema = schema.at(*others);
  }
  return place;
}

/// All arguments of one name, in their order.
struct Named {
  std::string_view name;
  std::vector<const Argument*> given;
};

std::vector<Named> by_name(const std::vector<Argument>& arguments) {
  std::vector<Named> all;
  all.reserve(arguments.size());
  for (const Argument& one : arguments) {
    if (one.form == Argument::Form::object) continue;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&one](const Named& named) { return named.name == one.key; });
    if (found == all.end()) {
      all.push_back({one.key, {&one}});
    } else {
      found->given.push_back(&one);
    }
  }
  return all;
}

/// Whether values that fit each its own schema are all that is wanted of the whole.
bool needs_no_more(const std::vector<Named>& given, const Schema& schema) {
  if (schema.has_alternatives() || !schema.values().empty() || !schema.allows_type("object"))
    return false;
  const auto required = schema.required();
  return std::all_of(required.begin(), required.end(), [&given](std::string_view name) {
    return std::any_of(given.begin(), given.end(),
                       [name](const Named& named) { return named.name == name; });
  });
}

std::string as_written(const Argument& argument) {
  return argument.form == Argument::Form::json ? json::on_one_line(argument.value)
                                               : json::quote(argument.value);
}

std::optional<std::string> converted(const Named& named, const std::optional<Schema>& schema) {
  const Argument& first = *named.given.front();
  if (named.given.size() == 1) {
    return first.form == Argument::Form::text && schema ? convert_text(first.value, *schema)
                                                        : as_written(first);
  }
  if (!schema) return std::nullopt;
  std::vector<std::string> kept;
  kept.reserve(named.given.size());
  std::vector<TypedElement> elements;
  for (const Argument* one : named.given) {
    const bool is_text = one->form == Argument::Form::text;
    if (!is_text) kept.push_back(as_written(*one));
    elements.push_back({is_text ? std::string_view(one->value) : kept.back(), !is_text});
  }
  return convert_elements(elements, *schema);
}

/// The first that its place does not take.
std::string wrong_element(const Named& named, const Schema& schema) {
  for (std::size_t index = 0; index < named.given.size(); ++index) {
    const Argument& given = *named.given[index];
    const Value* const item = schema.item_at(index);
    if (item == nullptr) continue;
    const bool is_text = given.form == Argument::Form::text;
    const auto value = is_text ? std::nullopt : json::parse(as_written(given));
    const bool is_wrong = is_text ? !convert_text(given.value, schema.at(*item))
                                  : value && !fits(*value, schema.at(*item));
    if (!is_wrong) continue;
    return fmt::format("{}[{}]={}: {} expected", named.name, index, shown(given.value),
                       schema.at(*item).describe());
  }
  return fmt::format("{}: {}", named.name, expected(named.name, schema));
}

std::string why_not(const Named& named, const std::optional<Schema>& schema) {
  if (named.given.size() > 1 && (!schema || !schema->allows_type("array")))
    return fmt::format("argument '{}' is given {} times, and is not an array", named.name,
                       named.given.size());
  if (named.given.size() > 1) return wrong_element(named, *schema);
  return fmt::format("{}={}: {}", named.name, shown(named.given.front()->value),
                     expected(named.name, *schema));
}

}  // namespace

std::variant<std::string, WrongArguments> arguments_by_schema(
    const std::vector<Argument>& arguments, const Schema& schema) {
  ArgumentTree tree;
  WrongArguments wrong;
  std::vector<std::string> given_wrongly;
  bool is_checked = true;  // each value by its own conversion
  for (const Argument& one : arguments) {
    if (one.form == Argument::Form::object) tree.put_all(json::on_one_line(one.value));
    is_checked = is_checked && one.form == Argument::Form::text;
  }
  const auto all_named = by_name(arguments);
  for (const Named& named : all_named) {
    const Place place = place_of(named.name, schema);
    std::optional<std::string> value;
    if (place.problem.empty()) value = converted(named, place.schema);
    is_checked = is_checked && value && place.path.size() == 1;
    if (value) {
      tree.put(place.path, std::move(*value));
      continue;
    }
    wrong.problems.push_back(place.problem.empty() ? why_not(named, place.schema) : place.problem);
    given_wrongly.push_back(missing_argument(fmt::format("{}", fmt::join(place.path, "."))));
  }
  std::string made = tree.json();
  if (is_checked && needs_no_more(all_named, schema)) return made;
  // A number that fits none of ours is left to the server, and all with it.
  if (const auto value = json::parse(made)) {
    for (std::string& problem : problems_of(*value, schema)) {
      const bool is_told =
          std::find(given_wrongly.begin(), given_wrongly.end(), problem) != given_wrongly.end();
      if (!is_told) wrong.problems.push_back(std::move(problem));
    }
  }
  if (!wrong.problems.empty()) return wrong;
  return made;
}

std::variant<std::string, WrongArguments> arguments_as_written(
    const std::vector<Argument>& arguments) {
  ArgumentTree tree;
  for (const Argument& one : arguments) {
    if (one.form == Argument::Form::object) tree.put_all(json::on_one_line(one.value));
  }
  for (const Named& named : by_name(arguments)) {
    if (named.given.size() > 1)
      return WrongArguments{{fmt::format("argument '{}' is given twice", named.name)}};
    tree.put({std::string(named.name)}, as_written(*named.given.front()));
  }
  return tree.json();
}

ArgumentTree::Node& ArgumentTree::member_of(Node& node, std::string_view name) {
  if (!node.json.empty()) {
    const std::string raw = std::exchange(node.json, {});
    const auto members = json::members(raw);
    if (members) {
      for (const json::RawMember& one : *members)
        node.members.push_back({json::decode_string(one.key), {std::string(one.value), {}}});
    }
  }
  for (Member& member : node.members) {
    if (member.name == name) return member.value;
  }
  if (node.members.empty()) node.members.reserve(8);
  return node.members.emplace_back(Member{std::string(name), {}}).value;
}

void ArgumentTree::put_all(std::string_view object) {
  const auto members = json::members(object);
  if (!members) return;
  for (const json::RawMember& one : *members)
    member_of(root_, json::decode_string(one.key)) = {std::string(one.value), {}};
}

void ArgumentTree::put(const std::vector<std::string>& path, std::string json) {
  Node* node = &root_;
  for (const std::string& name : path) node = &member_of(*node, name);
  *node = {std::move(json), {}};
}

bool ArgumentTree::has(std::string_view name) const {
  return std::any_of(root_.members.begin(), root_.members.end(),
                     [name](const auto& member) { return member.name == name; });
}

void ArgumentTree::write(const Node& node, std::string& out) {
  if (!node.json.empty()) {
    out += node.json;
    return;
  }
  out += '{';
  for (const auto& [name, member] : node.members) {
    if (out.back() != '{') out += ',';
    out += json::quote(name);
    out += ':';
    write(member, out);
  }
  out += '}';
}

std::string ArgumentTree::json() const {
  std::string out;
  write(root_, out);
  return out;
}

}  // namespace client
