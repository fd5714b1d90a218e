#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "verbs/dialogue.hpp"

namespace client {

/// One of the server's lists.
struct ServerList {
  std::string_view method;
  std::string_view member;         ///< of the result that holds the elements
  std::string_view name = "name";  ///< of an element: what it is called by
};

constexpr ServerList tool_list = {"tools/list", "tools"};

/// The results of all pages, as they came; or the answer that was none.
std::variant<std::vector<std::string>, Answer> fetch_list(Dialogue& dialogue,
                                                          const ServerList& list);

/// The elements of the pages, which must outlive them.
std::vector<std::string_view> elements_of(const std::vector<std::string>& pages,
                                          const ServerList& list);

/// What is printed of them as JSON: one page byte for byte; of several the elements are so.
std::string raw_result(const std::vector<std::string>& pages, const ServerList& list);

/// What an element is called by; "" if it has no such name.
std::string name_of(std::string_view element, const ServerList& list);

}  // namespace client
