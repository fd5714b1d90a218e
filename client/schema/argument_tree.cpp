#include "schema/argument_tree.hpp"

#include <algorithm>
#include <utility>

#include "json/scan.hpp"
#include "json/text.hpp"

namespace client {

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
