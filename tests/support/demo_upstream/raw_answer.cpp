#include "raw_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "tcp_socket.hpp"

namespace demo {
namespace {

constexpr std::chrono::milliseconds kForEver(-1);

/// Bytes exactly as sent, up to a limit, all at once or one after the other.
class RawBytes {
 public:
  RawBytes(int descriptor, const Spoiling& spoiling)
      : descriptor_(descriptor),
        left_(spoiling.truncate_at.value_or(std::string::npos)),
        pause_(spoiling.trickle_ms) {}

  bool write(std::string_view bytes) {
    const bool whole = bytes.size() <= left_;
    bytes = bytes.substr(0, left_);
    left_ -= bytes.size();
    if (pause_.count() == 0) return tcp::send_all(descriptor_, bytes) && whole;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      if (!tcp::send_all(descriptor_, bytes.substr(at, 1))) return false;
      if (tcp::wait_until_peer_is_gone(descriptor_, pause_)) return false;
    }
    return whole;
  }

 private:
  int descriptor_;
  std::size_t left_;
  std::chrono::milliseconds pause_;
};

class ChunkSink : public Sink {
 public:
  ChunkSink(RawBytes& raw, int descriptor) : raw_(raw), descriptor_(descriptor) {}
  bool write(std::string_view bytes) override {
    return bytes.empty() || raw_.write(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
  }
  int descriptor() const override { return descriptor_; }

 private:
  RawBytes& raw_;
  int descriptor_;
};

std::string head(const Answer& answer, bool chunked) {
  auto text =
      fmt::format("HTTP/1.1 {} {}\r\n", answer.status, answer.status < 400 ? "OK" : "Error");
  for (const auto& [name, value] : answer.headers) text += fmt::format("{}: {}\r\n", name, value);
  if (!answer.content_type.empty()) {
    text += fmt::format("Content-Type: {}\r\n", answer.content_type);
  }
  if (answer.spoiling.trickle_ms > 0) text += "Connection: close\r\n";
  text += chunked ? "Transfer-Encoding: chunked\r\n"
                  : fmt::format("Content-Length: {}\r\n", answer.body.size());
  return text + "\r\n";
}

BodyEnd write_whole(const Answer& answer, RawBytes& raw, int descriptor) {
  const bool chunked = answer.chunked || answer.writer;
  if (!raw.write(head(answer, chunked))) return BodyEnd::kCut;
  if (!chunked) {
    raw.write(answer.body);
    return BodyEnd::kCut;
  }
  ChunkSink sink(raw, descriptor);
  BodyEnd end = BodyEnd::kClose;
  if (answer.writer) {
    end = answer.writer(sink);
  } else {
    sink.write(answer.body);
  }
  if (end == BodyEnd::kClose) raw.write("0\r\n\r\n");
  return end;
}

}  // namespace

void write_spoilt(const Answer& answer, int descriptor) {
  const auto& spoiling = answer.spoiling;
  bool reset = spoiling.reset_after;
  switch (spoiling.instead) {
    case Spoiling::Instead::kNothing: {
      RawBytes raw(descriptor, spoiling);
      reset = write_whole(answer, raw, descriptor) == BodyEnd::kReset || reset;
      break;
    }
    case Spoiling::Instead::kHeaderHang:
      tcp::send_all(descriptor, "HTTP/1.1 200 OK\r\nContent-Ty");
      [[fallthrough]];
    case Spoiling::Instead::kHang: tcp::wait_until_peer_is_gone(descriptor, kForEver); break;
    case Spoiling::Instead::kFinish: break;
    case Spoiling::Instead::kReset: reset = true; break;
  }
  if (reset) {
    tcp::reset(descriptor);
  } else {
    tcp::finish(descriptor);
  }
}

}  // namespace demo
