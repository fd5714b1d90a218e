#pragma once

#include "verbs/dialogue.hpp"

namespace client {

/// Prints notifications until the time, the count or the daemon ends it.
///
/// Without other options it sends nothing: the daemon counts it as a listener, and what it receives
/// counts as delivered. So notifications beyond --count are printed on stderr rather than lost.
/// With --since or --seq it only looks (see ListenJoin). With URIs it subscribes to them first, and
/// unsubscribes at the end. At a terminal each is a sentence with the time, elsewhere a JSON line.
ExitCode listen(Dialogue& dialogue, const Options& options);

/// listen --exec: runs the command for each notification that no client has taken, in order, one at
/// a time, and takes it (bridge/take) once that has succeeded, or was repeated often enough. The
/// command gets the notification on stdin and in MCP_METHOD, MCP_SEQ and MCP_URI, and has a process
/// group of its own.
///
/// What fails before the first notification could be asked for ends it; later it waits and tries
/// again: after a failure for 1 s, doubled up to 60 s, and for the daemon as long as it is away. It
/// sleeps while there is nothing to do. SIGINT or SIGTERM end it after the running command; exit
/// code 0.
ExitCode handle_notifications(Dialogue& dialogue, const Options& options);

/// The message of an entry of bridge/notifications, JSON as received; "" if it has none.
std::string message_of_entry(std::string_view entry);

/// A notification to print; its sequence number where it is known.
struct Received {
  std::optional<std::uint64_t> sequence;
  std::string message;  ///< JSON, as received
};

/// Joins what the daemon's ring still holds (pages of bridge/notifications) with what then arrives
/// live, without a gap and without printing anything twice. Pure.
///
/// Why it works: after the page with `more: false`, the daemon sends exactly newest+1, newest+2,
/// ... So whatever arrives before that page (the flush on connect, and live ones while paging) is
/// at most its `newest`, and therefore is in a page too, or is not after `since`, or has left the
/// ring, which the page reports as a gap. All of it can be dropped without losing anything: a
/// connection that sends only bridge/* requests takes nothing, so the daemon keeps it for the next
/// client.
///
/// Limitation: if this reader is so slow that its cursor leaves the ring, the live ones are no
/// longer consecutive and the numbers printed from then on are too low.
class ListenJoin {
 public:
  /// After `since`; or, without it, all undelivered ones.
  explicit ListenJoin(std::optional<std::uint64_t> since)
      : only_untaken_(!since), since_(since.value_or(0)) {}

  struct Page {
    std::vector<Received> heard;
    std::string warning;  ///< about a gap, for a person; empty if there is none
    bool ask_again = false;
  };

  /// The params of the next bridge/notifications. REQUIRES: !joined().
  std::string params() const;

  /// Takes the result of such a request; nullopt if it cannot be read.
  std::optional<Page> take_page(std::string_view result);

  /// All pages have arrived.
  bool joined() const { return joined_; }

  /// Takes a notification that arrived; nothing if it is part of the pages.
  std::optional<Received> take_live(std::string_view line);

 private:
  bool only_untaken_;
  std::uint64_t since_;
  std::string instance_;  // JSON, of the pages so far
  bool joined_ = false;
  std::uint64_t newest_ = 0;
};

/// What listen prints for it, with line break.
std::string render_received(const Received& heard, bool with_sequence);

/// Prints every message that passes through the daemon from now on (bridge/monitor), until --for,
/// --count or an interrupt ends it. It takes nothing and is asked nothing. With `record` they go to
/// a file as JSON lines, readable by its owner only, instead of stdout; then an interrupt is its
/// regular end, and with --json stdout gets their number.
ExitCode monitor(Dialogue& dialogue, const Options& options);
ExitCode record(Dialogue& dialogue, const Options& options);

}  // namespace client
