#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "base/log.hpp"
#include "base/spare_memory.hpp"
#include "event/descriptor_watch.hpp"
#include "json/arriving_text.hpp"
#include "upstream/stdio/error_tail.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// A local server's process, pipes and watcher, for an upgrade. A value; does not own the
/// descriptors.
struct SavedRun {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct Frame {
    std::uint64_t id = 0;
    std::string body;

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(id, body);
    }
  };

  std::uint64_t watcher_version = 0;  ///< of the watcher's messages
  std::uint64_t watcher = none;       ///< the socket to it
  std::uint64_t watcher_pid = 0;
  std::uint64_t number = 0;  ///< of the last run
  std::uint64_t restarts = 0;
  bool is_on = false;  ///< it is running; otherwise nothing below is set
  std::uint64_t pid = none;
  std::uint64_t input = none;  ///< its stdin
  std::uint64_t output = none;
  std::uint64_t error = none;
  std::vector<Frame> frames;   ///< not completely written
  std::uint64_t progress = 0;  ///< written bytes of the first frame
  std::uint64_t position = 0;  ///< written bytes in total
  std::uint64_t unread_at_close = 0;
  std::string output_pending;
  bool output_discarding = false;
  std::string error_pending;
  bool error_discarding = false;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(watcher_version, watcher, watcher_pid, number, restarts, is_on, pid, input, output,
           error, frames, progress, position, unread_at_close, output_pending, output_discarding,
           error_pending, error_discarding);
  }
  /// All its descriptors.
  std::vector<std::uint64_t> descriptors() const {
    std::vector<std::uint64_t> all;
    for (const std::uint64_t one : {watcher, input, output, error}) {
      if (one != none) all.push_back(one);
    }
    return all;
  }
};

/// A message to be written to the child's stdin.
struct QueuedFrame {
  UpstreamId id{};
  std::string body;         ///< one line, without `\n`
  std::uint64_t begin = 0;  ///< position of its first byte in the child's input, once written
};

/// Frames that wait for room in a pipe, in order, each written as a line. Its owner, the
/// ChildProcess, bounds it. The loop's thread only; never blocks.
class FrameQueue {
 public:
  static constexpr std::size_t cost_of_frame = 512;

  enum class State {
    empty,    ///< everything is written
    blocked,  ///< the pipe is full
    broken,   ///< it is no longer read
  };

  void push(UpstreamId id, std::string body);
  /// Writes what the pipe accepts, as many frames as fit in one system call. Completely written
  /// frames are appended to `written`.
  State write_to(int descriptor, std::vector<QueuedFrame>& written);

  /// Removes a frame unless its first byte is written.
  bool remove(UpstreamId id);
  /// Removes all frames; the first one may be partly written, and then has its position.
  std::vector<QueuedFrame> take_all(bool& first_begun);

  const std::deque<QueuedFrame>& frames() const { return frames_; }
  /// Written bytes of the first frame.
  std::size_t progress() const { return progress_; }
  /// Continues another queue, whose frames are pushed first. REQUIRES: this queue is new.
  void restore(std::size_t progress, std::uint64_t position) {
    position_ = position;
    progress_ = frames_.empty() ? 0 : std::min(progress, frames_.front().body.size());
    bytes_ -= progress_;
  }

  std::size_t bytes() const { return bytes_; }
  /// Its memory, including what is recorded of each frame elsewhere.
  std::size_t cost() const { return bytes_ + frames_.size() * cost_of_frame; }
  /// Bytes written so far: the position of the next one.
  std::uint64_t position() const { return position_; }

 private:
  void advance(std::size_t count, std::vector<QueuedFrame>& written);

  std::deque<QueuedFrame> frames_;
  std::size_t bytes_ = 0;  ///< of the frames with line ends, without what is written
  std::uint64_t position_ = 0;
  std::size_t progress_ = 0;  ///< written bytes of the first frame
};

/// Whether a line on a child's stdout looks like a message or an array of messages. A long line is
/// not parsed here, because its receiver parses it (MCP 2025-11-25, "Transports: stdio": a server
/// must not write anything else to stdout). Pure.
bool is_message(const std::string& line);

/// Whether the last line of a child, whose end is missing, is a valid message or array. Pure.
bool is_whole_message(const std::string& line);

class ChildRuns;
class ChildUpstream;

/// The three pipes of one run of the child: lines in, lines out, and stderr into the log (MCP
/// 2025-11-25, "Transports", stdio; BEHAVIOUR, "Local server").
///
/// The loop's thread only; never blocks. Memory: the queue of frames, and an incomplete line of at
/// most --max-frame, both counted against the budget. Reports to its owner in a turn, never from
/// within a call except drain() and write(). To be reaped at the end of the turn, because an event
/// may lead to its end.
class ChildProcess {
 public:
  /// Half of a pipe's capacity, so that the child writes while the daemon reads.
  using OutputBuffer = ReadBuffer<128u << 10>;

  /// What all runs of a child share.
  struct Context {
    EventLoop& loop;
    ByteBudget& budget;
    Log& log;
    ChildUpstream& upstream;  ///< gets its messages
    ChildRuns& runs;
    const std::string& name;
    const SecretForms& secrets;  ///< not shown of what it writes
    std::size_t max_frame;
    UpstreamCounts& counts;
    Deferred& flush;  ///< requested when the child accepts bytes again
    OutputBuffer& read_buffer;
  };

  /// Throws std::system_error if pipes cannot be made.
  ChildProcess(const Context& context, std::uint32_t run);
  /// Takes over a run of the previous process.
  ChildProcess(const Context& context, const SavedRun& saved);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  std::uint32_t run() const { return run_; }
  /// The child's ends, until they are passed to it.
  const int (&child_ends() const)[3] { return child_ends_; }
  void close_child_ends();
  void set_pid(int pid) { pid_ = pid; }
  int pid() const { return pid_; }

  /// It has answered a request.
  void note_answer() { first_errors_.reset(); }
  /// What it wrote to its stderr before its first answer; none after that.
  const std::optional<ErrorTail>& first_errors() const { return first_errors_; }

  void save_process(SavedRun& saved) const;

  const FrameQueue& queue() const { return queue_; }
  void push(UpstreamId id, std::string body);
  /// Removes a frame; false if its first byte is written.
  bool remove(UpstreamId id);
  /// Removes all frames that are not completely written; FrameQueue::take_all().
  std::vector<QueuedFrame> take_unwritten(bool& first_begun);
  /// Writes as much as possible; `written` gets the completely written frames.
  void write(std::vector<QueuedFrame>& written);
  void close_input();
  /// The position up to which the child has read its input. Once it is dead, no later frame was
  /// read.
  std::uint64_t first_unread() const;

  /// Reads the rest of the pipes after its end; nothing follows.
  void drain();
  /// Resumes reading after the budget was used up.
  void resume_reading();

 private:
  template <class Ready>
  std::unique_ptr<DescriptorWatch> watch(int descriptor, Ready ready);
  void watch_input(int descriptor);
  void watch_output(int descriptor);
  void watch_error(int descriptor);
  void output_ready();
  void error_ready();
  bool read_output();
  void end_output();
  bool read_error();
  void output_received(LineSplitter::Item&& item);
  void error_received(const LineSplitter::Item& item);
  void note_garbage(std::string_view line);

  Context context_;
  std::uint32_t run_;
  int pid_ = -1;
  int child_ends_[3] = {-1, -1, -1};
  std::unique_ptr<DescriptorWatch> input_;   ///< its stdin
  std::unique_ptr<DescriptorWatch> output_;  ///< its stdout
  std::unique_ptr<DescriptorWatch> error_;   ///< its stderr
  FrameQueue queue_;
  ByteBudget::Share queued_;  ///< of queue_
  LineSplitter output_lines_;
  LineSplitter error_lines_;
  std::optional<ErrorTail> first_errors_;
  ByteBudget::Share share_;            ///< of output_lines_
  std::uint64_t unread_at_close_ = 0;  ///< bytes in the pipe when it was closed
  bool blocked_ = false;               ///< its stdin is full
  bool paused_ = false;                ///< the budget is used up
};

}  // namespace bridge
