#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace client {

/// A JSON object that is put together from pieces: a whole object first, then single values at
/// paths into it, which take the place of what stands there. What is not touched stays byte for
/// byte. A value.
class ArgumentTree {
 public:
  /// `object` is one valid JSON object.
  void put_all(std::string_view object);
  /// `json` is one value. REQUIRES: the path is not empty.
  void put(const std::vector<std::string>& path, std::string json);

  bool has(std::string_view name) const;
  std::string json() const;

 private:
  struct Member;
  struct Node {
    std::string json;  ///< of a value that nothing was put into; else empty
    std::vector<Member> members;
  };
  struct Member {
    std::string name;
    Node value;
  };
  static Node& member_of(Node& node, std::string_view name);
  static void write(const Node& node, std::string& out);

  Node root_;
};

}  // namespace client
