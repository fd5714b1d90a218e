// mcp-nc help --json.
#include <fmt/format.h>

#include <string>

#include "command_line/manual.hpp"
#include "command_line/options.hpp"
#include "command_line/verb_manual.hpp"
#include "json/text.hpp"

namespace client {
namespace {

std::string entry(std::string_view name, const ManualEntry& one) {
  return fmt::format(R"({{"{}":{},"text":{}}})", name, json::quote(one.form),
                     json::quote(one.text));
}

template <typename Entries, typename TextOf>
std::string array(const Entries& entries, TextOf text_of) {
  std::string text;
  for (const auto& one : entries) text += (text.empty() ? "" : ",") + text_of(one);
  return "[" + text + "]";
}

std::string options_of(std::span<const ManualEntry> options) {
  return array(options, [](const ManualEntry& one) { return entry("option", one); });
}

std::string command(const ManualEntry& one) {
  const std::string_view verb = one.form.substr(0, one.form.find(' '));
  return fmt::format(R"({{"verb":{},"usage":{},"text":{}}})", json::quote(verb),
                     json::quote(one.form), json::quote(summary_of(one)));
}

}  // namespace

std::string help_json() {
  return fmt::format(
      "{{\"verbs\":{},\"options\":{},\"exitCodes\":{}}}\n", array(manual_commands(), command),
      options_of(manual_general_options()),
      array(manual_exit_codes(), [](const ManualEntry& one) { return entry("code", one); }));
}

std::string help_json(std::string_view verb) {
  const ManualEntry* const found = manual_command(verb);
  const auto known = find_verb(verb);
  if (found == nullptr || !known) return {};
  std::string text(summary_of(*found));
  const VerbManual* const manual = manual_of(verb);
  if (manual != nullptr && !manual->text.empty()) text += fmt::format(". {}", manual->text);
  std::string help =
      fmt::format(R"({{"verb":{},"usage":{},"text":{},"options":{})", json::quote(verb),
                  json::quote(found->form), json::quote(text), options_of(options_of_verb(*known)));
  if (*known == Verb::call) {
    help += ",\"arguments\":" + array(manual_arguments(), [](const ManualEntry& one) {
              return entry("argument", one);
            });
  }
  if (manual != nullptr) {
    help += ",\"examples\":" +
            array(manual->examples, [](std::string_view one) { return json::quote(one); });
  }
  return help + "}\n";
}

}  // namespace client
