#include "upstream/stdio/child_process.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "json/frame.hpp"
#include "json/reply.hpp"
#include "upstream/stdio/child_runs.hpp"
#include "upstream/stdio/child_upstream.hpp"

namespace bridge {
namespace {

char line_end = '\n';
constexpr std::size_t frames_in_a_write = 64;

}  // namespace

void FrameQueue::push(UpstreamId id, std::string body) {
  bytes_ += body.size() + 1;
  frames_.push_back({id, std::move(body), 0});
}

FrameQueue::State FrameQueue::write_to(int descriptor, std::vector<QueuedFrame>& written) {
  while (!frames_.empty()) {
    std::array<iovec, 2 * frames_in_a_write> parts;
    std::size_t count = 0;
    std::size_t total = 0;
    std::size_t skip = progress_;
    for (std::size_t i = 0; i < std::min(frames_.size(), frames_in_a_write); ++i) {
      std::string& body = frames_[i].body;
      const std::size_t left = body.size() - std::min(skip, body.size());
      if (left > 0) parts[count++] = {body.data() + (body.size() - left), left};
      parts[count++] = {&line_end, 1};
      total += left + 1;
      skip = 0;
    }
    const ssize_t length = writev(descriptor, parts.data(), static_cast<int>(count));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno == EAGAIN ? State::blocked : State::broken;
    advance(static_cast<std::size_t>(length), written);
    // A short write means that the pipe is full.
    if (static_cast<std::size_t>(length) < total) return State::blocked;
  }
  return State::empty;
}

void FrameQueue::advance(std::size_t count, std::vector<QueuedFrame>& written) {
  bytes_ -= count;
  progress_ += count;
  position_ += count;
  while (!frames_.empty() && progress_ > frames_.front().body.size()) {
    frames_.front().begin = position_ - progress_;
    progress_ -= frames_.front().body.size() + 1;
    written.push_back(std::move(frames_.front()));
    frames_.pop_front();
  }
}

bool FrameQueue::remove(UpstreamId id) {
  const auto begin = frames_.begin() + (progress_ > 0 && !frames_.empty() ? 1 : 0);
  const auto found =
      std::find_if(begin, frames_.end(), [id](const QueuedFrame& frame) { return frame.id == id; });
  if (found == frames_.end()) return false;
  bytes_ -= found->body.size() + 1;
  frames_.erase(found);
  return true;
}

std::vector<QueuedFrame> FrameQueue::take_all(bool& first_begun) {
  first_begun = progress_ > 0;
  if (first_begun) frames_.front().begin = position_ - progress_;
  std::vector<QueuedFrame> all;
  all.reserve(frames_.size());
  std::move(frames_.begin(), frames_.end(), std::back_inserter(all));
  frames_.clear();
  bytes_ = progress_ = 0;
  return all;
}

namespace {

/// Lines up to this length are parsed completely.
constexpr std::size_t short_line = 64u << 10;

/// A long message is not parsed twice: it names its protocol near one of its ends.
bool names_protocol(std::string_view line) {
  constexpr std::string_view sign = "\"jsonrpc\"";
  constexpr std::size_t near = 64;
  return line.substr(0, near).find(sign) != line.npos ||
         line.substr(line.size() - std::min(near, line.size())).find(sign) != line.npos;
}

}  // namespace

bool is_message(const std::string& line) {
  const auto first = line.find_first_not_of(" \t");
  if (first == line.npos || (line[first] != '{' && line[first] != '[')) return false;
  if (line.size() > short_line && names_protocol(line)) return true;
  if (is_batch(line)) return is_whole_message(line);
  const ParsedFrame parsed = parse_frame(line);
  const auto* const fault = std::get_if<FrameFault>(&parsed);
  return fault == nullptr || fault->answers;
}

bool is_whole_message(const std::string& line) {
  if (is_batch(line)) return !std::holds_alternative<FrameFault>(parse_batch(line));
  return !std::holds_alternative<FrameFault>(parse_frame(line));
}

namespace {

constexpr std::size_t max_error_line = 8u << 10;
constexpr std::size_t shown_of_error_line = 1000;
constexpr std::size_t shown_of_garbage = 200;
/// A dead process leaves at most a full pipe.
constexpr int reads_after_end = 64;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

/// Unread bytes in the pipe; the writing end knows the number too.
std::uint64_t unread_in(int pipe) {
  int count = 0;
  return ioctl(pipe, FIONREAD, &count) == 0 && count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

/// A large pipe wakes the reader of a large message less often. A user with too many pipes gets 64
/// KiB.
constexpr int pipe_size = 256 << 10;

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "a pipe for the child");
  return {ends[0], ends[1]};
}

}  // namespace

void ChildProcess::output_received(LineSplitter::Item&& item) {
  if (auto* const line = std::get_if<ReceivedText>(&item)) {
    if (is_message(line->bytes)) {
      context_.upstream.child_message(std::move(*line));
    } else {
      note_garbage(line->bytes);
    }
  } else if (const auto* const ends = std::get_if<TextEnds>(&item)) {
    const auto id = id_of_oversized_answer(ends->beginning(), ends->end());
    context_.upstream.child_oversized_line(id ? std::optional(static_cast<UpstreamId>(*id))
                                              : std::nullopt);
  } else {
    context_.log.peer(LogLevel::warning, "oversized line",
                      "a line of {} was over --max-frame ({} bytes) and was skipped", context_.name,
                      context_.max_frame);
  }
}

void ChildProcess::error_received(const LineSplitter::Item& item) {
  if (std::holds_alternative<TextEnds>(item)) return;
  const auto* const line = std::get_if<ReceivedText>(&item);
  const std::string text = line != nullptr ? context_.secrets.blotted(line->bytes)
                                           : "(a line that is too long to be shown)";
  context_.log.peer(LogLevel::info, "stderr of the server", "{}[{}]: {}", context_.name, pid_,
                    printable(text, shown_of_error_line));
  if (first_errors_) first_errors_->add(text);
}

ChildProcess::ChildProcess(const Context& context, std::uint32_t run)
    : context_(context),
      run_(run),
      queued_(context.budget),
      output_lines_(context.max_frame),
      error_lines_(max_error_line),
      first_errors_(std::in_place),
      share_(context.budget) {
  try {
    const Pipe in = make_pipe();
    fcntl(in.write_end, F_SETPIPE_SZ, pipe_size);
    child_ends_[0] = in.read_end;
    watch_input(in.write_end);
    const Pipe out = make_pipe();
    fcntl(out.read_end, F_SETPIPE_SZ, pipe_size);
    child_ends_[1] = out.write_end;
    watch_output(out.read_end);
    const Pipe error = make_pipe();
    child_ends_[2] = error.write_end;
    watch_error(error.read_end);
  } catch (...) {
    close_child_ends();
    throw;
  }
}

ChildProcess::ChildProcess(const Context& context, const SavedRun& saved)
    : context_(context),
      run_(static_cast<std::uint32_t>(saved.number)),
      pid_(static_cast<int>(saved.pid)),
      queued_(context.budget),
      output_lines_(context.max_frame),
      error_lines_(max_error_line),
      share_(context.budget),
      unread_at_close_(saved.unread_at_close) {
  for (const SavedRun::Frame& frame : saved.frames)
    queue_.push(static_cast<UpstreamId>(frame.id), frame.body);
  queue_.restore(saved.progress, saved.position);
  queued_.set(queue_.cost());
  output_lines_.restore({saved.output_pending, saved.output_discarding});
  error_lines_.restore({saved.error_pending, saved.error_discarding});
  share_.set(output_lines_.pending_bytes());
  if (saved.input != SavedRun::none) watch_input(static_cast<int>(saved.input));
  if (saved.output != SavedRun::none) watch_output(static_cast<int>(saved.output));
  if (saved.error != SavedRun::none) watch_error(static_cast<int>(saved.error));
}

void ChildProcess::save_process(SavedRun& saved) const {
  const auto of = [](const std::unique_ptr<DescriptorWatch>& watch) {
    return watch ? static_cast<std::uint64_t>(watch->descriptor()) : SavedRun::none;
  };
  saved.is_on = true;
  saved.pid = static_cast<std::uint64_t>(pid_);
  saved.input = of(input_);
  saved.output = of(output_);
  saved.error = of(error_);
  for (const QueuedFrame& frame : queue_.frames())
    saved.frames.push_back({value_of(frame.id), frame.body});
  saved.progress = queue_.progress();
  saved.position = queue_.position();
  saved.unread_at_close = unread_at_close_;
  const auto output = output_lines_.rest();
  saved.output_pending = output.pending;
  saved.output_discarding = output.discarding;
  const auto error = error_lines_.rest();
  saved.error_pending = error.pending;
  saved.error_discarding = error.discarding;
}

template <class Ready>
std::unique_ptr<DescriptorWatch> ChildProcess::watch(int descriptor, Ready ready) {
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  return std::make_unique<DescriptorWatch>(context_.loop, descriptor,
                                           [ready](DescriptorWatch::Event) { ready(); });
}

void ChildProcess::watch_input(int descriptor) {
  input_ = watch(descriptor, [this] {
    blocked_ = false;
    context_.flush.schedule();
  });
}

void ChildProcess::watch_output(int descriptor) {
  output_ = watch(descriptor, [this] { output_ready(); });
  output_->want(DescriptorWatch::Event::readable);
}

void ChildProcess::watch_error(int descriptor) {
  error_ = watch(descriptor, [this] { error_ready(); });
  error_->want(DescriptorWatch::Event::readable);
}

ChildProcess::~ChildProcess() { close_child_ends(); }

void ChildProcess::close_child_ends() {
  for (int& end : child_ends_) {
    if (end >= 0) close(end);
    end = -1;
  }
}

void ChildProcess::push(UpstreamId id, std::string body) {
  queue_.push(id, std::move(body));
  queued_.set(queue_.cost());
}

bool ChildProcess::remove(UpstreamId id) {
  const bool removed = queue_.remove(id);
  queued_.set(queue_.cost());
  return removed;
}

std::vector<QueuedFrame> ChildProcess::take_unwritten(bool& first_begun) {
  std::vector<QueuedFrame> frames = queue_.take_all(first_begun);
  queued_.set(0);
  return frames;
}

void ChildProcess::write(std::vector<QueuedFrame>& written) {
  if (!input_ || blocked_) return;
  const FrameQueue::State state = queue_.write_to(input_->descriptor(), written);
  queued_.set(queue_.cost());
  if (state == FrameQueue::State::blocked) {
    blocked_ = true;
    input_->want(DescriptorWatch::Event::writable);
  } else if (state == FrameQueue::State::broken) {
    close_input();
    context_.runs.child_closed("stdin");
  }
}

void ChildProcess::close_input() {
  if (input_) unread_at_close_ = unread_in(input_->descriptor());
  input_.reset();
}

std::uint64_t ChildProcess::first_unread() const {
  return queue_.position() - (input_ ? unread_in(input_->descriptor()) : unread_at_close_);
}

/// False when there is nothing to read, now or at all.
bool ChildProcess::read_output() {
  auto& buffer = context_.read_buffer;
  const ssize_t length = read(output_->descriptor(), buffer.data(), buffer.size());
  if (length < 0) return errno == EINTR;
  if (length == 0) {
    output_.reset();
    end_output();
    return false;
  }
  context_.counts.received_bytes += static_cast<std::size_t>(length);
  std::string_view chunk(buffer.data(), static_cast<std::size_t>(length));
  while (auto item = output_lines_.next(chunk)) output_received(std::move(*item));
  share_.set(output_lines_.pending_bytes());
  return true;
}

/// The rest is a line, even without its end, if it is whole: half an answer is none, though its id
/// can be read.
void ChildProcess::end_output() {
  if (auto last = output_lines_.finish()) {
    const auto* const line = std::get_if<ReceivedText>(&*last);
    if (line != nullptr && !is_whole_message(line->bytes)) {
      note_garbage(line->bytes);
    } else {
      output_received(std::move(*last));
    }
  }
  share_.set(output_lines_.pending_bytes());
}

void ChildProcess::output_ready() {
  read_output();
  if (!output_) {
    context_.runs.child_closed("stdout");
  } else if (context_.budget.is_too_full_for(output_lines_.pending_bytes())) {
    paused_ = true;  // resume_reading() is called on relief
  } else {
    output_->want(DescriptorWatch::Event::readable);
  }
}

void ChildProcess::resume_reading() {
  if (!paused_ || context_.budget.over()) return;
  paused_ = false;
  if (output_) output_->want(DescriptorWatch::Event::readable);
}

bool ChildProcess::read_error() {
  auto& buffer = context_.read_buffer;
  const ssize_t length = read(error_->descriptor(), buffer.data(), buffer.size());
  if (length < 0) return errno == EINTR;
  if (length == 0) {
    if (const auto last = error_lines_.finish()) error_received(*last);
    error_.reset();
    return false;
  }
  std::string_view chunk(buffer.data(), static_cast<std::size_t>(length));
  while (const auto item = error_lines_.next(chunk)) error_received(*item);
  return true;
}

void ChildProcess::error_ready() {
  read_error();
  if (error_) error_->want(DescriptorWatch::Event::readable);
}

void ChildProcess::drain() {
  for (int i = 0; i < reads_after_end && output_ && read_output(); ++i) {
  }
  if (output_) end_output();  // another process still has it open
  for (int i = 0; i < reads_after_end && error_ && read_error(); ++i) {
  }
}

void ChildProcess::note_garbage(std::string_view line) {
  context_.log.peer(LogLevel::warning, "no message on stdout",
                    "{} wrote to its stdout what is no message: {}", context_.name,
                    printable(context_.secrets.blotted(std::string(line)), shown_of_garbage));
}

}  // namespace bridge
