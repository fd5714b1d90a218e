#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/spare_memory.hpp"
#include "event/descriptor_watch.hpp"
#include "event/event_loop.hpp"

// libcurl's types by name only, so that its header stays out of ours.
using CURL = void;
using CURLM = void;

namespace bridge {

class IdleConnections;

/// One HTTP transfer on the CurlLoop. Its curl callbacks only append and set flags; what they have
/// found is looked at in transfer_progressed(), outside of curl.
class CurlTransfer {
 public:
  /// Something came, or (with `done`) it is over: `result` is a CURLcode.
  virtual void transfer_progressed(bool done, int result) = 0;

 protected:
  virtual ~CurlTransfer() = default;

  /// Once it is over: whether it had a connection of its own making, to the peer or a proxy. One
  /// that was there before does not count.
  bool was_connected() const { return connected_; }

 private:
  friend class CurlLoop;
  bool ready_ = false;
  bool connected_ = false;
};

/// Drives libcurl's multi interface by the event loop.
///
/// The loop's thread only. Sockets stay registered as long as curl keeps the connection; curl's
/// timer is kept as a deadline and seldom touches the kernel's. How many connections stay idle is
/// said by IdleConnections. No callback of a transfer is made from within a function of
/// this class: they come from the loop.
///
/// What a round of the loop brings is done together at its end: first what sockets have to say is
/// read, then what was added is sent, then what came of it all is reported.
class CurlLoop {
 public:
  CurlLoop(EventLoop& loop);
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  EventLoop& loop() const { return loop_; }

  /// Sets on a new handle what every transfer here needs.
  void prepare(CURL* handle);

  /// A socket for a connection of a handle that was prepared; -1: there is none. For callbacks that
  /// look at the address first.
  int open_socket(int family, int type, int protocol);

  /// Starts the transfer. Both must live until remove(), or until it was reported as done.
  void add(CURL* handle, CurlTransfer& transfer);
  /// Ends the transfer; its connection is closed unless the answer was complete.
  void remove(CURL* handle, CurlTransfer& transfer);
  /// Stops or continues receiving.
  void pause(CURL* handle, bool paused);
  /// When curl was entered last: for its callbacks, which come many at a time.
  SteadyTime entered() const { return entered_; }
  /// Connections that no transfer uses now are not used again.
  void end_idle_connections();
  /// From a curl callback: transfer_progressed() is due.
  void mark_ready(CurlTransfer& transfer);

 private:
  friend class IdleConnections;

  struct Socket {
    std::unique_ptr<DescriptorWatch> watch;
    int interest = 0;
    int ready = 0;          ///< of the interest: what the kernel has said, and curl was not told
    bool ours = false;      ///< made by open_socket: closed by close_socket, kept in between
    ino_t inode = 0;        ///< tells it from another that has its descriptor by now
    CURL* user = nullptr;   ///< the transfer that used it last...
    std::uint64_t use = 0;  ///< ...and its number
    SteadyTime idle_since{};
    bool shut_down = false;
  };
  struct Running {
    CurlTransfer* transfer;
    std::uint64_t number;  ///< handles are used again, numbers are not
  };
  struct Callbacks;

  static ino_t inode_of(int descriptor);
  void shut_down(int descriptor);
  void note_connected(const Socket& socket, int descriptor);
  bool is_idle(const Socket& socket) const;
  void set_interest(CURL* user, int descriptor, int what);
  void rearm(int descriptor);
  void socket_ready(int descriptor, DescriptorWatch::Event event);
  void work();
  void tell_ready_sockets();
  void drive();
  void call_curl();
  void report();
  void report_later();

  EventLoop& loop_;
  CURLM* multi_;
  std::unordered_map<int, Socket> sockets_;
  std::unordered_map<CURL*, Running> transfers_;
  SpareNodes<std::unordered_map<CURL*, Running>> spare_transfers_;
  std::uint64_t last_number_ = 0;
  std::vector<CurlTransfer*> ready_;
  std::vector<int> ready_sockets_;
  std::vector<int> sockets_told_;  ///< of those ready, while they are being told
  DeadlineTimer timer_;
  std::unique_ptr<IdleConnections> idle_;
  SteadyTime entered_{};
  bool kick_ = false;    ///< curl wants to be called at once
  bool acting_ = false;  ///< inside curl
  bool reporting_ = false;
  bool has_added_ = false;  ///< transfers that curl was not called for yet
  Deferred work_;
  DeadlineTimer report_again_;  ///< in the next turn, when others have had theirs
};

}  // namespace bridge
