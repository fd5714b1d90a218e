#pragma once

#include "verbs/dialogue.hpp"

namespace client {

/// One of the server's lists.
struct ServerList {
  std::string_view method;
  std::string_view member;         ///< of the result that holds the elements
  std::string_view name = "name";  ///< of an element: the member with its name
  std::string_view empty{};        ///< the noun if the server has none; "" = the member's name
};

constexpr ServerList tool_list = {"tools/list", "tools"};
constexpr ServerList resource_list = {"resources/list", "resources", "uri"};
constexpr ServerList template_list = {"resources/templates/list", "resourceTemplates",
                                      "uriTemplate", "resource templates"};
constexpr ServerList prompt_list = {"prompts/list", "prompts"};

/// The results of all pages of a list, as received; or none, and the Answer that failed.
struct FetchedList {
  ServerList list;
  std::vector<std::string> pages{};
  std::optional<Answer> failed{};

  /// Views of the pages.
  std::vector<std::string_view> elements() const;
};

/// Ends at the page that has the element `wanted`, and with a note on stderr at a cursor that the
/// server has given before.
FetchedList fetch_list(Dialogue& dialogue, const ServerList& list, std::string_view wanted = {});

/// The name of an element; "" if it has none.
std::string name_of(std::string_view element, const ServerList& list);

/// A tool as the server lists it.
struct KnownTool {
  std::string json;  ///< `{"tool":…}`, as the daemon returns it

  /// nullopt if it contains none, as in a response of another daemon.
  std::optional<std::string_view> raw() const { return json::find_member(json, "tool"); }
};

/// There is no such tool or prompt: the message, the name that was probably meant ("" = none is
/// near), and the command that lists them.
struct Unknown {
  std::string message;
  std::string meant{};
  std::string_view verb = "tools";
};
/// Reports it, with --json on stdout too.
ExitCode report_unknown(const Unknown& unknown, const Options& options, Console& console);

/// The server has no list of tools, or it is not available.
struct NoToolList {};

/// A tool, from the list that the daemon keeps; from the server if the daemon keeps none. An
/// Answer: the connection or the session has failed.
std::variant<KnownTool, Unknown, NoToolList, Answer> find_tool(Dialogue& dialogue,
                                                               std::string_view name);

/// The tasks of the server, as `mcp-nc tasks` shows them.
ExitCode list_tasks(Dialogue& dialogue, const Options& options);

}  // namespace client
