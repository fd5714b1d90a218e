#include "downstream/unix/start_refusal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "json/frame.hpp"
#include "json/line_splitter.hpp"
#include "json/reply.hpp"
#include "process/process_start.hpp"

namespace bridge {
namespace {

constexpr int passed_socket = 3;  // SD_LISTEN_FDS_START
/// What is read of a client, and of how many: as many as systemd's socket holds by our unit.
constexpr std::size_t most_read = 64 << 10;
constexpr int most_clients = 512;

std::string reason(int exit_code) {
  const std::string unit = own_unit();
  return fmt::format(
      "mcp-bridged cannot start (exit status {}): what is wrong stands in its log: journalctl -u {}",
      exit_code, unit.empty() ? "'mcp-bridged*'" : unit);
}

/// Collects the answers to the requests among a client's lines.
struct Answers {
  const Failure& failure;
  std::string text;

  void on_line(std::string line) {
    const auto parsed = parse_frame(std::move(line));
    const Frame* frame = std::get_if<Frame>(&parsed);
    if (frame != nullptr && frame->is_request())
      text += error_reply(frame->text(frame->id), failure) + "\n";
  }
  void on_oversized_line() {}
};

void refuse(int client, const Failure& failure) {
  std::string sent(most_read, '\0');
  const ssize_t count = recv(client, sent.data(), sent.size(), MSG_DONTWAIT);
  Answers answers{failure, {}};
  LineSplitter lines(most_read);
  if (count > 0) lines.feed({sent.data(), static_cast<std::size_t>(count)}, answers);
  if (answers.text.empty()) answers.text = error_reply("null", failure) + "\n";
  send(client, answers.text.data(), answers.text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

StartRefusal::StartRefusal() {
  const char* const pid = std::getenv("LISTEN_PID");
  if (pid != nullptr && std::getenv("LISTEN_FDS") != nullptr && std::to_string(getpid()) == pid)
    listener_ = fcntl(passed_socket, F_DUPFD_CLOEXEC, passed_socket + 1);
}

StartRefusal::~StartRefusal() {
  if (listener_ >= 0) close(listener_);
}

void StartRefusal::tell_waiting_clients(int exit_code) const {
  if (listener_ < 0) return;
  fcntl(listener_, F_SETFL, fcntl(listener_, F_GETFL) | O_NONBLOCK);
  const Failure failure = failure_of(ErrorKind::shutdown, Delivered::no, reason(exit_code));
  for (int told = 0; told < most_clients; ++told) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    refuse(client, failure);
    close(client);
  }
}

}  // namespace bridge
