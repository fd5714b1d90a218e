#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/spare_memory.hpp"
#include "event/descriptor_watch.hpp"
#include "event/event_loop.hpp"

// libcurl's types by name only, so that this header does not include its own.
using CURL = void;
using CURLM = void;

namespace bridge {

class IdleConnections;

/// Receives the data of an HttpTransfer; implemented by its owner.
class TransferReceiver {
 public:
  // From within curl: may only note what was received, and mark the transfer as ready.
  virtual void head_line_received(bool complete) { static_cast<void>(complete); }
  /// The first byte of the body has arrived: body_received() follows.
  virtual void body_begins() {}
  /// False ends the transfer.
  virtual bool body_received(std::string_view bytes) = 0;
  /// Whether to stop reading until HttpTransfer::proceed(): from a fast peer curl takes up to a
  /// hundred buffers before any of them can be reported.
  virtual bool has_enough() { return false; }

  /// From the loop: it was marked as ready, or it is over, with this CURLcode.
  virtual void transfer_progressed(bool done, int result) = 0;

 protected:
  ~TransferReceiver() = default;
};

/// One HTTP transfer on the CurlLoop. Its curl callbacks only append and set flags; the results are
/// handled by its receiver, outside of curl.
class CurlTransfer {
 protected:
  /// `receiver`: null if nothing is reported.
  explicit CurlTransfer(TransferReceiver* receiver) : receiver_(receiver) {}
  virtual ~CurlTransfer() = default;

  /// It is over, with this CURLcode; returns the one that is reported.
  virtual int transfer_over(int result) = 0;
  /// After its end: whether it established a connection, to the peer or a proxy. A reused
  /// connection does not count.
  bool was_connected() const { return connected_; }

  TransferReceiver* const receiver_;

 private:
  friend class CurlLoop;
  bool ready_ = false;
  bool connected_ = false;
};

/// Drives libcurl's multi interface on the event loop.
///
/// The loop's thread only. Sockets stay registered as long as curl keeps the connection; curl's
/// timer is kept as a deadline and seldom sets the kernel's. IdleConnections limits how many
/// connections stay idle. Callbacks of transfers are never made from within a function of this
/// class: they come from the loop.
///
/// All events of one round are handled together at its end: first the sockets' events are passed to
/// curl, then added transfers are sent, then results are reported.
class CurlLoop {
 public:
  CurlLoop(EventLoop& loop);
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  EventLoop& loop() const { return loop_; }

  /// Sets the options of every transfer on a new handle.
  void prepare(CURL* handle);

  /// Opens a socket for a connection of a prepared handle; -1 on failure. For callbacks that check
  /// the address first.
  int open_socket(int family, int type, int protocol);

  /// Starts the transfer. Both must live until remove(), or until it was reported as done.
  void add(CURL* handle, CurlTransfer& transfer);
  /// Ends the transfer; its connection is closed unless the response was complete.
  void remove(CURL* handle, CurlTransfer& transfer);
  /// Stops or continues receiving.
  void pause(CURL* handle, bool paused);
  /// When curl was last entered: for its callbacks, of which there are many at a time.
  SteadyTime entered() const { return entered_; }
  /// Connections that are idle now are not reused.
  void end_idle_connections();
  /// From a curl callback: requests a call of transfer_progressed().
  void mark_ready(CurlTransfer& transfer);

 private:
  friend class IdleConnections;

  struct Socket {
    std::unique_ptr<DescriptorWatch> watch;
    int interest = 0;
    int ready = 0;          ///< events of the interest that curl was not told yet
    bool ours = false;      ///< made by open_socket: closed by close_socket, kept in between
    ino_t inode = 0;        ///< detects that another socket has its descriptor by now
    CURL* user = nullptr;   ///< the transfer that used it last...
    std::uint64_t use = 0;  ///< ...and its number
    SteadyTime idle_since{};
    bool shut_down = false;
  };
  struct Running {
    CurlTransfer* transfer;
    std::uint64_t number;  ///< handles are reused, numbers are not
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
  std::vector<int> sockets_reported_;  ///< those of ready_ sockets, while curl is told
  DeadlineTimer timer_;
  std::unique_ptr<IdleConnections> idle_;
  SteadyTime entered_{};
  bool kick_ = false;    ///< curl asks to be called at once
  bool acting_ = false;  ///< inside curl
  bool reporting_ = false;
  bool has_added_ = false;  ///< transfers were added since curl was called
  Deferred work_;
  DeadlineTimer report_again_;  ///< in the next turn, after other descriptors
};

}  // namespace bridge
