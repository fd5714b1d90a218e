#include "connection/trusted_peer.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>

#include "base/secret_file.hpp"
#include "json/json_text.hpp"
#include "system/files.hpp"

namespace client {
namespace {

constexpr std::size_t longest_fact = 4096;

constexpr uid_t no_user = static_cast<uid_t>(-1);

/// Takes the next number from a text of numbers and white space. nullopt: no further number.
std::optional<std::uint64_t> next_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

/// The number shown for unmapped users (user_namespaces(7)), unless every number is mapped.
std::optional<uid_t> nameless_user() {
  const std::string map = bridge::read_regular_file("/proc/self/uid_map", longest_fact).bytes;
  std::string_view numbers = map;
  const auto inside = next_number(numbers), outside = next_number(numbers);
  const auto count = next_number(numbers);
  if (inside == 0U && outside && count == no_user) return std::nullopt;
  constexpr uid_t usual = 65534;
  const std::string overflow =
      bridge::read_regular_file("/proc/sys/kernel/overflowuid", longest_fact).bytes;
  numbers = overflow;
  const auto found = next_number(numbers).value_or(0);
  return found > 0 ? static_cast<uid_t>(found) : usual;
}

/// The folders of the path and of each link on its way to the socket; the socket's real one is
/// last. Limited in number as in the kernel.
std::vector<std::string> folders_on_the_way(std::string path) {
  constexpr int most_links = 40;
  std::vector<std::string> folders;
  for (int links = 0; links <= most_links; ++links) {
    folders.push_back(folder_of(path));
    std::array<char, PATH_MAX> target;
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length <= 0) break;
    const std::string leads_to(target.data(), static_cast<std::size_t>(length));
    path = leads_to.front() == '/' ? leads_to : folders.back() + '/' + leads_to;
  }
  folders.push_back(folder_of(real_path(path)));
  return folders;
}

/// Whether a peer is trusted in every folder.
bool is_trusted_anywhere(uid_t peer, const TrustedPeer& trusted) {
  return trusted.anybody || peer == 0 || peer == trusted.user;
}

std::string refusal(const PeerFacts& facts, const std::string& path, std::string_view place) {
  const bool is_nameless = facts.peer == facts.nameless;
  const std::string who =
      is_nameless
          ? fmt::format("a user who has no number in this user namespace (uid {})", facts.peer)
          : describe_user(facts.peer);
  const std::string named = is_nameless ? "any" : fmt::to_string(facts.peer);
  return fmt::format(
      "{} is served by {}: neither root, nor you, nor the owner of {}, so it may "
      "be a trap; if it is your daemon, type: --peer {}, or set MCP_NC_PEER={}",
      path, who, place, named, named);
}

}  // namespace

std::variant<TrustedPeer, UsageError> choose_trusted_peer(std::string_view option,
                                                          const char* environment) {
  const bool is_option = !option.empty() || environment == nullptr;
  const std::string_view chosen = is_option ? option : environment;
  const std::string_view from = is_option ? "--peer" : "MCP_NC_PEER";
  TrustedPeer trusted;
  trusted.anybody = chosen == "any";
  if (chosen.empty() || trusted.anybody) return trusted;
  const auto user = bridge::to_unsigned(chosen);
  if (!user || *user >= no_user)
    return UsageError{fmt::format("{}: '{}' is not a uid (a number, or any)", from, chosen)};
  trusted.user = static_cast<uid_t>(*user);
  return trusted;
}

bool is_trusted(const PeerFacts& facts, const TrustedPeer& trusted) {
  if (is_trusted_anywhere(facts.peer, trusted)) return true;
  if (facts.peer == facts.nameless) return false;
  return facts.peer == facts.user || facts.peer == facts.folder_owner;
}

std::optional<ucred> peer_of(int connected) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return peer;
}

std::optional<std::string> distrust(const std::optional<ucred>& server, const std::string& path,
                                    const TrustedPeer& trusted) {
  if (trusted.anybody) return std::nullopt;
  if (!server)
    return fmt::format("cannot tell who serves {} (--peer any connects all the same)", path);
  if (is_trusted_anywhere(server->uid, trusted)) return std::nullopt;
  PeerFacts facts{server->uid, ::geteuid(), std::nullopt, nameless_user()};
  if (path.front() == '@') {
    if (is_trusted(facts, trusted)) return std::nullopt;
    return refusal(facts, path, "its name, which any user may take");
  }
  // A link and its target may be in different folders: each must belong to a trusted user.
  for (const std::string& folder : folders_on_the_way(path)) {
    struct stat status {};
    const bool is_known = ::stat(folder.c_str(), &status) == 0;
    if (is_known && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) continue;
    facts.folder_owner = is_known ? std::optional(status.st_uid) : std::nullopt;
    if (!is_trusted(facts, trusted))
      return refusal(facts, path, fmt::format("{}, which others may write", folder));
  }
  return std::nullopt;
}

}  // namespace client
