#pragma once

#include "servers/places.hpp"
#include "terminal/console.hpp"

namespace client {

/// Whether the user has approved that this file's server runs with this very definition. What
/// needs no approval is approved.
bool is_approved(const NamedServer& server, const Places& places);

/// Keeps that it is approved, in the file `approved` of the state folder: a line with a hash of the
/// file's real path, the name and the definition; name and path stand behind it for people. Returns
/// what went wrong, for a person.
std::string approve(const NamedServer& server, const Places& places);

/// What is to be approved, for a terminal: the file, the definition on lines of its own with its
/// control characters made visible, and the variables it reads. Pure.
std::string describe_for_approval(const NamedServer& server);

/// Shows what is to be approved, asks at the terminal, and keeps it if that was the answer.
std::optional<Failure> have_approved(const NamedServer& server, const Places& places,
                                     Console& console);

}  // namespace client
