#include "daemon_snapshot.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "base/start_error.hpp"
#include "state/archive.hpp"
#include "state/log_format.hpp"
#include "state/memory_file.hpp"
#include "state/upgrade.hpp"
#include "upstream/stdio/watcher.hpp"

namespace bridge {
namespace {

/// The only record of a snapshot, which is never written to a disk.
constexpr std::uint32_t snapshot_record = 1001;

}  // namespace

std::vector<int> DaemonSnapshot::descriptors() const {
  std::vector<int> all;
  const auto add = [&all](std::uint64_t descriptor) {
    if (descriptor != SavedRun::none) all.push_back(static_cast<int>(descriptor));
  };
  for (const int one : {socket.descriptor, socket.lock, http_socket.descriptor, http_socket.lock,
                        pipes.lock, process.frontend_listener, process.metrics_listener}) {
    if (one >= 0) all.push_back(one);
  }
  for (const DownstreamSession::Saved& one : frontend.sessions) {
    for (const SessionPost::Saved& post : one.posts) {
      if (post.connection) all.push_back(post.connection->descriptor);
    }
  }
  for (const Connection::Saved& connection : connections) {
    all.push_back(connection.descriptor);
    if (connection.out >= 0) all.push_back(connection.out);
  }
  if (run) {
    for (const std::uint64_t descriptor : run->descriptors()) add(descriptor);
  }
  return all;
}

std::string write_snapshot(const DaemonSnapshot& snapshot) {
  const std::string payload = Archive::write(Archive::Kind::memory, {}, snapshot);
  if (payload.size() > std::numeric_limits<std::uint32_t>::max()) return {};
  std::string bytes = header_bytes({});
  append_record(bytes, 0, {}, snapshot_record, payload);
  return bytes;
}

std::variant<DaemonSnapshot, std::string> read_snapshot(std::string_view bytes) {
  DaemonSnapshot snapshot;
  const LogReading reading = read_log(bytes, [&snapshot](std::uint32_t type,
                                                         std::string_view payload) {
    return type == snapshot_record && Archive::read(Archive::Kind::memory, {}, payload, snapshot);
  });
  if (bytes.empty()) return "the state is larger than 4 GiB";
  if (reading.verdict == LogVerdict::later_format) return "the state has a later format";
  if (reading.verdict == LogVerdict::earlier_format) return "the state has an earlier format";
  if (reading.verdict != LogVerdict::good || reading.records != 1)
    return "the state cannot be read: another version, or incomplete";
  if (snapshot.run && snapshot.run->watcher != SavedRun::none &&
      snapshot.run->watcher_version != watcher_version)
    return fmt::format("the watcher of the local server has version {}, and {} is known",
                       snapshot.run->watcher_version, watcher_version);
  if (snapshot.process.in_session && !snapshot.session.server && !snapshot.session.modern)
    return "the state has no handshake";
  return snapshot;
}

std::optional<PassedSnapshot> passed_snapshot(int argc, char** argv) {
  if (argc < 3) return std::nullopt;
  const std::string_view option = argv[1];
  if (option != check_option && option != take_over_option) return std::nullopt;
  const auto refuse = [option](std::string_view why) {
    return StartError(exit_code::configuration, fmt::format("{}: {}", option, why));
  };
  int descriptor = -1;
  std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), descriptor);
  const auto bytes = read_memory_file(descriptor);
  if (!bytes) throw refuse("there is no state: this is for the program itself (SIGUSR2)");
  const Descriptor until_the_end(descriptor);
  auto read = read_snapshot(*bytes);
  if (const auto* reason = std::get_if<std::string>(&read)) throw refuse(*reason);
  PassedSnapshot left{option == check_option, std::move(std::get<DaemonSnapshot>(read))};
  if (!left.only_check) {
    for (const int one : left.snapshot.descriptors()) fcntl(one, F_SETFD, FD_CLOEXEC);
  }
  return left;
}

}  // namespace bridge
