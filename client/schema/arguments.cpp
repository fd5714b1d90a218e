#include "schema/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/contains.hpp"
#include "schema/signature.hpp"
#include "text/characters.hpp"
#include "text/shell_word.hpp"
#include "text/similar.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr int deepest_value = 64;
constexpr int deepest_alternative = 16;
constexpr std::size_t longest_value_shown = 60;

bool is_of_type(const Value& value, std::string_view type) {
  switch (value.kind) {
    case Kind::null: return type == "null";
    case Kind::boolean: return type == "boolean";
    case Kind::string: return type == "string";
    case Kind::array: return type == "array";
    case Kind::object: return type == "object";
    case Kind::number: break;
  }
  return type == "number" || (type == "integer" && value.number == std::trunc(value.number));
}

bool equal(const Value& left, const Value& right) {
  if (left.is(Kind::number) && right.is(Kind::number)) return left.number == right.number;
  return json::to_json(left) == json::to_json(right);
}

std::string path_to(std::string_view name, std::string_view member) {
  return name.empty() ? std::string(member) : fmt::format("{}.{}", name, member);
}

std::string wrong_type(std::string_view name, const Value& value, const Schema& schema) {
  return fmt::format("{}: {} expected, not {}", name.empty() ? "the arguments" : name,
                     schema.describe(), bridge::cut_off(json::to_json(value), longest_value_shown));
}

constexpr std::string_view unknown_start = "unknown argument ";

/// `prefix` precedes the name.
std::string unknown_argument(std::string_view prefix, std::string_view name,
                             const std::vector<std::string_view>& known) {
  return fmt::format("{}'{}{}'{}", unknown_start, prefix, name, bridge::did_you_mean(name, known));
}

std::string missing_argument(std::string_view name) {
  return fmt::format("'{}' is required", name);
}

/// A JSON object assembled from pieces: a whole object first, then single values at paths into it,
/// which replace what is there. Everything else stays byte for byte. A value.
class ArgumentTree {
 public:
  /// The name of a member, or the index of an element.
  struct Step {
    std::string name;
    bool is_index = false;
  };

  /// `object` is one valid JSON object.
  void put_all(std::string_view object) {
    const auto members = json::members(object);
    if (!members) return;
    for (const json::RawMember& one : *members)
      member_of(root_, {json::decode_string(one.key)}) = {std::string(one.value), {}};
  }
  /// `json` is one value. REQUIRES: the path is not empty; an index is canonical.
  void put(const std::vector<Step>& path, std::string json) {
    Node* node = &root_;
    for (const Step& step : path) node = &member_of(*node, step);
    *node = {std::move(json), {}};
  }

  std::string json() const { return json_of(root_); }
  /// The first element that is missing before another one of its list, as `items.1`; "" = none.
  std::string gap() const { return gap_in(root_, ""); }

 private:
  struct Member;
  struct Node {
    std::string json;  ///< of a value without inserted parts; else empty
    std::vector<Member> members;
    bool is_list = false;  ///< the members are elements, in order of their names as indexes
  };
  struct Member {
    std::string name;
    Node value;
  };

  static Node& member_of(Node& node, const Step& step) {
    if (!node.json.empty()) {
      const std::string raw = std::exchange(node.json, {});
      if (const auto members = json::members(raw)) {
        for (const json::RawMember& one : *members)
          node.members.push_back({json::decode_string(one.key), {std::string(one.value), {}}});
      } else if (const auto elements = json::elements(raw); elements && step.is_index) {
        for (const std::string_view one : *elements)
          node.members.push_back({std::to_string(node.members.size()), {std::string(one), {}}});
      }
    }
    node.is_list = step.is_index;
    const auto is_before = [&step](const Member& member) {  // by their numbers
      return std::pair(member.name.size(), member.name) < std::pair(step.name.size(), step.name);
    };
    auto at = node.members.begin();
    while (at != node.members.end() && at->name != step.name && (!step.is_index || is_before(*at)))
      ++at;
    if (at != node.members.end() && at->name == step.name) return at->value;
    if (node.members.empty()) {
      node.members.reserve(8);
      at = node.members.end();
    }
    return node.members.insert(at, Member{step.name, {}})->value;
  }

  static std::string json_of(const Node& node) {
    if (!node.json.empty()) return node.json;
    if (node.is_list) {
      json::JsonArray list;
      for (const Member& element : node.members) list.add(json::RawJson{json_of(element.value)});
      return list.text();
    }
    json::JsonObject object(64);
    for (const auto& [name, member] : node.members)
      object.add_any(name, json::RawJson{json_of(member)});
    return std::move(object).text();
  }

  static std::string gap_in(const Node& node, const std::string& path) {
    for (std::size_t at = 0; at < node.members.size(); ++at) {
      const Member& member = node.members[at];
      if (node.is_list && member.name != std::to_string(at))
        return path_to(path, std::to_string(at));
      if (auto gap = gap_in(member.value, path_to(path, member.name)); !gap.empty()) return gap;
    }
    return {};
  }

  Node root_;
};

class Check {
 public:
  /// `is_whole`: of the arguments as a whole.
  explicit Check(bool is_whole) : is_whole_(is_whole) {}

  std::vector<std::string> run(const Value& value, const Schema& schema, std::string_view name,
                               int depth) {
    if (depth > deepest_value) return {};
    problems_.clear();
    const auto types = schema.types();
    const auto values = schema.values();
    const auto is_its = [&](std::string_view type) { return is_of_type(value, type); };
    const auto is_equal = [&](const Value* one) { return equal(value, *one); };
    if ((!types.empty() && std::none_of(types.begin(), types.end(), is_its)) ||
        (!values.empty() && std::none_of(values.begin(), values.end(), is_equal))) {
      problems_.push_back(wrong_type(name, value, schema));
      return std::move(problems_);
    }
    if (value.is(Kind::object)) object(value, schema, name, depth);
    if (value.is(Kind::array)) array(value, schema, name, depth);
    alternatives(value, schema, name, depth);
    return std::move(problems_);
  }

 private:
  void object(const Value& value, const Schema& schema, std::string_view name, int depth) {
    const auto others = schema.other_names();
    const bool is_refused = others == Schema::OtherNames::forbidden ||
                            (is_whole_ && others == Schema::OtherNames::not_said);
    const auto known = schema.names();
    for (const std::string_view wanted : schema.required()) {
      if (value.find(wanted) != nullptr) continue;
      add_missing(path_to(name, wanted), schema, wanted, depth);
      std::string problem = std::move(problems_.back());
      problems_.pop_back();
      // A listed name that nearly matches a required one; an unlisted name is reported below.
      for (const json::Member& member : value.members) {
        if (!is_refused && bridge::is_nearly_same(member.name, wanted))
          problem += fmt::format("; did you mean it by '{}'?", member.name);
      }
      problems_.push_back(std::move(problem));
    }
    for (const json::Member& member : value.members) {
      const std::string path = path_to(name, member.name);
      if (is_refused && !bridge::contains(known, member.name)) {
        problems_.push_back(unknown_argument(path_to(name, ""), member.name, known));
      } else if (const Value* property = schema.property(member.name)) {
        add(Check(false).run(member.value, schema.at(*property), path, depth + 1));
      }
    }
  }

  /// An object is named by its required members, as they are typed.
  void add_missing(const std::string& path, const Schema& schema, std::string_view wanted,
                   int depth) {
    const Value* const property = schema.property(wanted);
    const auto inner = property == nullptr || depth > deepest_alternative
                           ? std::vector<std::string_view>()
                           : schema.at(*property).required();
    if (inner.empty() || !schema.at(*property).is_object())
      return problems_.push_back(missing_argument(path));
    for (const std::string_view one : inner)
      add_missing(path_to(path, one), schema.at(*property), one, depth + 1);
  }

  void array(const Value& value, const Schema& schema, std::string_view name, int depth) {
    const auto first = schema.first_items();
    const Value* const others = schema.items();
    for (std::size_t index = 0; index < value.items.size() && problems_.empty(); ++index) {
      const Value* const item = index < first.size() ? first[index] : others;
      if (item == nullptr) continue;
      add(Check(false).run(value.items[index], schema.at(*item), fmt::format("{}[{}]", name, index),
                           depth + 1));
    }
  }

  /// One must accept the value. If none does, the problems of the nearest one are reported.
  void alternatives(const Value& value, const Schema& schema, std::string_view name, int depth) {
    const auto all = schema.alternatives();
    if (all.empty() || !problems_.empty()) return;
    std::vector<std::string> fewest;
    for (const Schema& one : all) {
      auto found = Check(is_whole_).run(value, one, name, depth + 1);
      std::erase_if(found, [&](const std::string& problem) {
        // Another alternative, or a schema beside them, may list the name.
        return is_whole_ && problem.starts_with(unknown_start);
      });
      if (found.empty()) return;
      if (fewest.empty() || found.size() < fewest.size()) fewest = std::move(found);
    }
    if (value.is(Kind::object)) {
      add(std::move(fewest));
    } else {
      problems_.push_back(wrong_type(name, value, schema));
    }
  }

  void add(std::vector<std::string> more) {
    for (std::string& one : more) problems_.push_back(std::move(one));
  }

  bool is_whole_;
  std::vector<std::string> problems_;
};

using Converted = std::optional<std::string>;

Converted if_it_fits(Converted converted, const Schema& schema) {
  if (!converted) return converted;
  const auto value = json::parse(*converted);
  // A number that does not fit our types is left to the server.
  return !value || fits(*value, schema) ? converted : std::nullopt;
}

Converted as_json(std::string_view text) {
  if (text.find_first_of(" \t\r\n") == 0 || !json::is_json(text)) return std::nullopt;
  return json::on_one_line(text);
}

Converted as_type(std::string_view text, std::string_view type, const Schema& schema, int depth) {
  if (type == "string") return json::quote(text);
  const char first = text.empty() ? '\0' : text.front();
  if (type == "number" || type == "integer") {
    const bool may_be = first == '-' || (first >= '0' && first <= '9');
    return may_be ? as_json(text) : std::nullopt;
  }
  if (type == "boolean") return text == "true" || text == "false" ? as_json(text) : std::nullopt;
  if (type == "null") return text == "null" ? as_json(text) : std::nullopt;
  if (type == "object") return first == '{' ? as_json(text) : std::nullopt;
  if (type != "array") return std::nullopt;
  if (first == '[') {
    if (Converted whole = as_json(text); if_it_fits(whole, schema)) return whole;
  }
  const Value* const item = schema.item_at(0);
  const Converted element =
      item == nullptr ? json::quote(text) : convert_text(text, schema.at(*item), depth + 1);
  return element ? Converted("[" + *element + "]") : std::nullopt;
}

Converted as_listed(std::string_view text, const std::vector<const Value*>& values) {
  for (const Value* value : values) {
    if (value->is(Kind::string) ? value->text == text : json::to_json(*value) == text)
      return json::to_json(*value);
  }
  return std::nullopt;
}

/// Whether the schema, which has no alternatives, accepts the text converted to that type; nullopt
/// where only the whole check can tell.
std::optional<bool> fits_at_sight(std::string_view text, std::string_view type,
                                  const std::vector<const Value*>& values) {
  if (type == "string") {
    return values.empty() || std::any_of(values.begin(), values.end(), [text](const Value* one) {
             return one->is(Kind::string) && one->text == text;
           });
  }
  if (!values.empty()) return std::nullopt;
  if (type == "number" || type == "boolean" || type == "null") return true;
  const bool is_whole = type == "integer" && text.find_first_not_of("-0123456789") == text.npos;
  return is_whole ? std::optional(true) : std::nullopt;
}

std::string shown(std::string_view text) {
  const std::string word = bridge::shell_word(bridge::whole_characters(text, longest_value_shown));
  return text.size() <= longest_value_shown ? word : word + "...";
}

/// The expected type, and an argument of that type.
std::string expected(std::string_view name, const Schema& schema) {
  return fmt::format("{} expected, for example {}", schema.describe(),
                     example_argument(name, schema));
}

/// Where in the arguments a name belongs.
struct Place {
  std::vector<ArgumentTree::Step> path;
  std::optional<Schema> schema;  ///< nullopt: unspecified
  std::string problem;           ///< "" = none
  std::string meant;             ///< of an unknown name: the path probably meant, "" = none
};

Place place_of(std::string_view name, const Schema& schema, const std::string& prefix = {});

/// Of the rest of a name in a list: an index, which may be followed by a name.
Place place_in_list(std::string_view rest, const Schema& list, const std::string& prefix) {
  constexpr std::size_t most_digits = 4;
  const std::string_view index = rest.substr(0, rest.find('.'));
  const auto number = bridge::to_unsigned(index);
  Place place;
  if (!number || index.size() > most_digits || std::to_string(*number) != index ||
      index.size() + 1 == rest.size()) {
    place.problem =
        fmt::format("unknown argument '{0}{1}': a list has elements, as {0}0", prefix, rest);
    return place;
  }
  const Value* const item = list.item_at(*number);
  if (index.size() == rest.size()) {
    if (item != nullptr) place.schema = list.at(*item);
  } else {
    const Value anything;
    const Schema inner = list.at(item == nullptr ? anything : *item);
    const std::string_view name = rest.substr(index.size() + 1);
    const std::string path = fmt::format("{}{}.", prefix, index);
    const auto inner_list = inner.as_list();
    place = inner_list ? place_in_list(name, *inner_list, path) : place_of(name, inner, path);
  }
  place.path.insert(place.path.begin(), {std::string(index), true});
  return place;
}

Place place_of(std::string_view name, const Schema& schema, const std::string& prefix) {
  Place place;
  if (const Value* listed = schema.listed_property(name)) {
    place.path.push_back({std::string(name)});
    place.schema = schema.at(*listed);
    return place;
  }
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    const std::string_view head = name.substr(0, dot);
    const Value* const listed = schema.listed_property(head);
    if (listed == nullptr || dot + 1 == name.size()) continue;
    const Schema inner = schema.at(*listed);
    const std::string path = fmt::format("{}{}.", prefix, head);
    if (const auto list = inner.as_list()) {
      place = place_in_list(name.substr(dot + 1), *list, path);
    } else if (inner.allows_type("object")) {
      place = place_of(name.substr(dot + 1), inner, path);
    } else {
      place.problem = fmt::format("unknown argument '{}{}': {}{} is not an object but {}", prefix,
                                  name, prefix, head, inner.describe());
    }
    place.path.insert(place.path.begin(), {std::string(head)});
    return place;
  }
  place.path.push_back({std::string(name)});
  if (schema.other_names() != Schema::OtherNames::allowed) {
    place.problem = unknown_argument(prefix, name, schema.names());
    place.meant = prefix + bridge::most_similar(name, schema.names());
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

/// Whether the whole is valid if each value fits its own schema.
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

/// The first element that its schema does not accept.
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

std::vector<std::string> problems_of(const Value& value, const Schema& schema,
                                     std::string_view name) {
  return Check(name.empty()).run(value, schema, name, 0);
}

bool fits(const Value& value, const Schema& schema) {
  return Check(false).run(value, schema, "", 0).empty();
}

std::optional<std::string> convert_text(std::string_view text, const Schema& schema, int depth) {
  if (depth > deepest_alternative) return json::quote(text);
  const auto types = schema.types();
  const auto values = schema.values();
  if (types.empty() && !values.empty()) return if_it_fits(as_listed(text, values), schema);
  const auto alternatives = schema.alternatives();
  for (const Schema& one : alternatives) {
    if (Converted converted = if_it_fits(convert_text(text, one, depth + 1), schema))
      return converted;
  }
  for (const std::string_view type : types) {
    Converted converted = as_type(text, type, schema, depth);
    if (!converted) continue;
    const auto known = alternatives.empty() ? fits_at_sight(text, type, values) : std::nullopt;
    if (known ? *known : if_it_fits(converted, schema).has_value()) return converted;
  }
  if (!types.empty() || !alternatives.empty()) return std::nullopt;
  if (!schema.type_words().empty()) {  // an unknown type, as `float`
    if (Converted number = as_type(text, "number", schema, depth)) return number;
  }
  return json::quote(text);
}

std::optional<std::string> convert_elements(const std::vector<TypedElement>& elements,
                                            const Schema& schema, int depth) {
  if (depth > deepest_alternative) return std::nullopt;
  for (const Schema& one : schema.alternatives()) {
    if (Converted converted = if_it_fits(convert_elements(elements, one, depth + 1), schema))
      return converted;
  }
  if (!schema.allows_type("array") || (schema.types().empty() && !schema.alternatives().empty()))
    return std::nullopt;
  json::JsonArray array;
  for (std::size_t index = 0; index < elements.size(); ++index) {
    const TypedElement& element = elements[index];
    const Value* const item = schema.item_at(index);
    Converted one = element.is_json   ? Converted(std::string(element.text))
                    : item == nullptr ? Converted(json::quote(element.text))
                                      : convert_text(element.text, schema.at(*item), depth + 1);
    if (!one) return std::nullopt;
    array.add(json::RawJson{*one});
  }
  return if_it_fits(array.text(), schema);
}

std::variant<std::string, WrongArguments> arguments_by_schema(
    const std::vector<Argument>& arguments, const Schema& schema) {
  ArgumentTree tree;
  WrongArguments wrong;
  std::vector<std::string> given_wrongly;  // the starts of what is not reported, too
  bool is_checked = true;                  // each value by its own conversion
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
    given_wrongly.push_back(missing_argument(place.meant));
    std::string path;
    for (const ArgumentTree::Step& step : place.path)
      given_wrongly.push_back(missing_argument(path = path_to(path, step.name)));
    if (place.problem.empty()) given_wrongly.push_back(fmt::format("'{}.", path));
  }
  if (const std::string gap = tree.gap(); !gap.empty())
    wrong.problems.push_back(missing_argument(gap));
  std::string made = tree.json();
  if (is_checked && needs_no_more(all_named, schema)) return made;
  // If a number does not fit our types, the whole is left to the server.
  if (const auto value = json::parse(made)) {
    for (std::string& problem : problems_of(*value, schema)) {
      const bool is_said =
          std::any_of(given_wrongly.begin(), given_wrongly.end(),
                      [&problem](const std::string& start) { return problem.starts_with(start); });
      if (!is_said) wrong.problems.push_back(std::move(problem));
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
    tree.put({{std::string(named.name)}}, as_written(*named.given.front()));
  }
  return tree.json();
}

}  // namespace client
