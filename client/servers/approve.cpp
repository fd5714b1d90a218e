#include "servers/approve.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/secret_file.hpp"
#include "connection/typed_line.hpp"
#include "render/failure.hpp"
#include "servers/instance.hpp"
#include "system/signals.hpp"
#include "text/sha256.hpp"
#include "text/shell_word.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

constexpr std::size_t longest_list = 1 << 20;

std::string key_of(const NamedServer& server) {
  const Definition& definition = server.definition;
  return bridge::sha256_hex(fmt::format("{}:{}{}:{}{}", server.file.size(), server.file,
                                        definition.name.size(), definition.name,
                                        definition.document));
}

std::string list_of(const Places& places) { return places.state + "/approved"; }

}  // namespace

bool is_approved(const NamedServer& server, const Places& places) {
  if (!server.needs_approval) return true;
  const std::string list = "\n" + bridge::read_regular_file(list_of(places), longest_list).bytes;
  return list.find("\n" + key_of(server) + " ") != list.npos;
}

std::string approve(const NamedServer& server, const Places& places) {
  if (is_approved(server, places)) return {};
  const int error =
      append_to_file(list_of(places), fmt::format("{} {} {}\n", key_of(server),
                                                  bridge::make_visible_line(server.definition.name),
                                                  bridge::make_visible_line(server.file)));
  if (error == 0) return {};
  return fmt::format("cannot save the approval in {}: {}", list_of(places), std::strerror(error));
}

std::string describe_for_approval(const NamedServer& server) {
  std::string text =
      fmt::format("{} names the server '{}':\n  {}\n", bridge::make_visible_line(server.file),
                  bridge::make_visible_line(server.definition.name),
                  bridge::make_visible_line(shown_document(server.definition)));
  text += starts_program(server.definition)
              ? fmt::format("it runs in {}: ", bridge::make_visible_line(server.folder))
              : "it is at ";
  text += bridge::make_visible_line(summary_of(server.definition)) + "\n";
  const NamedVariables variables = variables_of(server.definition);
  std::string names;
  for (const auto& [name, has_default] : variables.environment)
    names += (names.empty() ? "" : ", ") + name;
  for (const bridge::InputDefinition& input : variables.inputs)
    names += (names.empty() ? "" : ", ") + bridge::make_visible_line("input:" + input.id);
  for (const std::string& member : unused_members(server.definition)) text += member + "\n";
  text += fmt::format("it reads {}\n", names.empty() ? "no variables" : "the variables " + names);
  return text;
}

std::optional<Failure> have_approved(const NamedServer& server, const Places& places,
                                     Console& console) {
  const std::string name = server.definition.name;
  if (!console.can_ask()) {
    return naming_failure(fmt::format(
        "@{1} of {0} is not approved; allow it with: mcp-nc approve @{1}, which asks "
        "at a terminal, or, once you have read the definition: mcp-nc approve --yes @{1}",
        server.file, name));
  }
  const auto line = read_typed_line(false, [&] {
    console.prompt(describe_for_approval(server));
    console.prompt("mcp-nc: may it run, now and from now on? [y/N] ");
  });
  if (!line) console.prompt("\n");
  if (!line || (*line != "y" && *line != "Y" && *line != "yes"))
    return naming_failure(fmt::format("@{} was not approved", name));
  if (std::string fault = approve(server, places); !fault.empty())
    return naming_failure(std::move(fault), ExitCode::unreachable);
  return std::nullopt;
}

ExitCode approve_server(const Options& options, Console& console) {
  auto found = find_named(options);
  if (auto* failure = std::get_if<Failure>(&found)) return tell_failure(console, options, *failure);
  const NamedDaemon& named = std::get<NamedDaemon>(found);
  const std::string name = named.server.definition.name;
  std::optional<Failure> failure;
  if (const std::string& why = named.server.definition.fault; !why.empty()) {
    failure = naming_failure(fmt::format("cannot start @{}: {}", name, why));
  } else if (is_approved(named.server, named.places)) {
    console.note(fmt::format("@{} is approved already, or needs no approval", name));
  } else if (!options.yes && console.can_ask()) {
    failure = have_approved(named.server, named.places, console);
  } else if (console.prompt(describe_for_approval(named.server)); options.yes) {
    if (std::string fault = approve(named.server, named.places); !fault.empty())
      failure = naming_failure(std::move(fault), ExitCode::unreachable);
  } else {
    failure = naming_failure("no terminal to ask at; if it may run, type: mcp-nc approve --yes " +
                             bridge::shell_word("@" + name));
  }
  if (failure) return tell_failure(console, options, *failure);
  if (options.json) console.print(json::JsonObject().add("approved", name).text() + "\n");
  return ExitCode::ok;
}

}  // namespace client
