#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documented_option.hpp"

namespace documents {

/// Escapes text so that groff(7) prints it unchanged.
std::string groff_text(std::string_view text);

/// `.TP` paragraphs, with a `.SS` before each group (none for an empty group).
std::string groff_options(const std::vector<DocumentedOption>& options);

/// One `.TP` paragraph: the form to type, and its meaning.
std::string groff_entry(std::string_view form, std::string_view text);

}  // namespace documents
