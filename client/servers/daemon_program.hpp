#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "servers/file_form.hpp"
#include "system/files.hpp"

namespace client {

constexpr std::string_view no_daemon_program = "mcp-bridged not found beside mcp-nc or in PATH";

/// The first program of that name in PATH, "" if not found. Only folders with an absolute path
/// count; or, as for a shell, all but `except`.
std::string find_program(std::string_view name, const std::string& except = {});
/// The path of mcp-bridged: beside this program, else the first in PATH; "" if not found.
std::string find_daemon_program();

/// An unnamed file with this content, which cannot be changed.
FileDescriptor sealed_file(const char* name, const std::string& content);

/// Our environment, for another process.
std::vector<std::string> own_environment();

/// Runs the program with this argument and our environment in a new session, without stdout. False:
/// it cannot be run.
bool run_detached(const std::string& program, const std::string& argument);

/// Has mcp-bridged read it: the library for TOML would be 70 KB of a static client. Waits for that
/// process.
bridge::FileAsJson toml_by_daemon(std::string_view text);

}  // namespace client
