#include "servers/daemon_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "base/secret_file.hpp"
#include "process/spawn.hpp"
#include "servers/start.hpp"

namespace client {
namespace {

constexpr const char* daemon_name = "mcp-bridged";
/// JSON of a file of 1 MiB, whose bytes may be escaped.
constexpr std::size_t longest_json = 8 << 20;

}  // namespace

FileDescriptor sealed_file(const char* name, const std::string& content) {
  FileDescriptor file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return {};
  if (::write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    return {};
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return file;
}

std::vector<std::string> own_environment() {
  char** end = environ;
  while (*end != nullptr) ++end;
  return {environ, end};
}

bool run_detached(const std::string& program, const std::string& argument) {
  const FileDescriptor nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  bridge::ProcessOrder order{
      program, {program, argument}, own_environment(), {{nothing.get(), STDOUT_FILENO}}};
  order.has_own_session = true;
  pid_t process = 0;
  return bridge::spawn(process, std::move(order)) == 0;
}

std::string find_program(std::string_view name, const std::string& except) {
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const std::string folder(folders.substr(0, folders.find(':')));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    const bool counts = except.empty() ? folder.starts_with('/') : real_path(folder) != except;
    if (folder.empty() || !counts) continue;
    std::string candidate = fmt::format("{}/{}", folder, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::string find_daemon_program() {
  std::array<char, 4096> own{};
  const ssize_t length = ::readlink("/proc/self/exe", own.data(), own.size() - 1);
  if (length > 0) {
    std::string beside(own.data(), static_cast<std::size_t>(length));
    beside.erase(beside.rfind('/') + 1);
    beside += daemon_name;
    if (::access(beside.c_str(), X_OK) == 0) return beside;
  }
  return find_program(daemon_name);
}

bridge::FileAsJson toml_by_daemon(std::string_view text) {
  const std::string daemon = find_daemon_program();
  if (daemon.empty()) return {{}, fmt::format("TOML, and {}", no_daemon_program)};
  const FileDescriptor toml = sealed_file("toml", std::string(text));
  const FileDescriptor said(::memfd_create("json", MFD_CLOEXEC));
  bridge::ProcessOrder order{
      daemon,
      {daemon, "--toml-as-json", fmt::format("/proc/self/fd/{}", definition_number)},
      {},
      {{said.get(), STDOUT_FILENO}, {said.get(), STDERR_FILENO}, {toml.get(), definition_number}},
      "/",
      true};
  pid_t process = 0;
  int status = -1;
  if (!toml || !said || bridge::spawn(process, std::move(order)) != 0 ||
      ::waitpid(process, &status, 0) != process)
    return {{}, fmt::format("TOML, and {} cannot be run to read it", daemon)};
  std::string all =
      bridge::read_regular_file(fmt::format("/proc/self/fd/{}", said.get()), longest_json).bytes;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {std::move(all)};
  return {{}, last_words_of(all, "TOML").text};
}

}  // namespace client
