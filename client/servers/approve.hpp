#pragma once

#include "servers/places.hpp"
#include "terminal/console.hpp"

namespace client {

/// Whether the user has approved the file's server with exactly this definition. A server that
/// needs no approval counts as approved.
bool is_approved(const NamedServer& server, const Places& places);

/// Records the approval, in the file `approved` of the state folder: a line with a hash of the
/// file's real path, the name and the definition; name and path follow it for people. Returns what
/// failed, for a person.
std::string approve(const NamedServer& server, const Places& places);

/// The text to be approved, for a terminal: the file, the definition on its own lines with control
/// characters made visible, and the variables it reads. Pure.
std::string describe_for_approval(const NamedServer& server);

/// Shows the text to be approved, asks at the terminal, and records an approval.
std::optional<Failure> have_approved(const NamedServer& server, const Places& places,
                                     Console& console);

}  // namespace client
