#include "connection/account_names.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>

#include "system/file_descriptor.hpp"

namespace client {
namespace {

constexpr std::size_t longest_table = std::size_t{1} << 20;

std::string read_table(const char* path) {
  std::string table;
  const FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char bytes[4096];
  ssize_t count = 0;
  while (file && table.size() < longest_table &&
         (count = ::read(file.get(), bytes, sizeof bytes)) > 0) {
    table.append(bytes, static_cast<std::size_t>(count));
  }
  return table;
}

/// The next part before `separator`, which is taken off `text`.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

std::optional<std::string> find_account(std::string_view table, unsigned long id) {
  while (!table.empty()) {
    std::string_view line = take_part(table, '\n');
    const std::string_view name = take_part(line, ':');
    take_part(line, ':');  // the password
    const std::string_view number = take_part(line, ':');
    unsigned long found = 0;
    const char* const end = number.data() + number.size();
    const auto [rest, error] = std::from_chars(number.data(), end, found);
    if (error == std::errc() && rest == end && found == id && !name.empty()) {
      return std::string(name);
    }
  }
  return std::nullopt;
}

std::optional<std::string> user_name(uid_t user) {
  return find_account(read_table("/etc/passwd"), user);
}

std::optional<std::string> group_name(gid_t group) {
  return find_account(read_table("/etc/group"), group);
}

std::string describe_user(uid_t user) {
  const auto name = user_name(user);
  return name ? fmt::format("{} (uid {})", *name, user) : fmt::format("uid {}", user);
}

}  // namespace client
