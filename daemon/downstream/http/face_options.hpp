#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "http/server/listen_address.hpp"

namespace bridge {

/// The HTTP face as it is to be (BEHAVIOUR, "HTTP face"). Off without an address.
struct FaceOptions {
  std::optional<ListenAddress> address;
  std::string certificate;  ///< PEM files; both or none
  std::string private_key;
  std::string token_file;
  bool insecure = false;  ///< a non-loopback address without TLS or without a token
  std::vector<std::string> allow_origins;
  std::vector<std::string> allow_hosts;
  bool answers_later = false;                ///< --http-async
  bool fans_out_all = false;                 ///< --http-fanout all
  std::chrono::milliseconds timeout{60000};  ///< a caller that wants JSON waits so long
  std::chrono::milliseconds session_idle{1800000};
  std::chrono::milliseconds keepalive{15000};  ///< between comments on a stream
  std::chrono::milliseconds sse_idle{0};       ///< a quiet stream of a GET ends then; 0: never
  std::size_t max_sessions = 1000;
  std::size_t max_streams = 256;
  std::size_t stream_buffer =
      1u << 20;                      ///< unsent bytes of a stream, and bytes kept for resumption
  std::size_t max_frame = 8u << 20;  ///< of a body
  std::size_t client_buffer = 16u << 20;
  std::chrono::milliseconds stall{
      30000};                        ///< a connection that takes nothing for so long is closed
  std::optional<int> kept_listener;  ///< of an earlier image of the program; then `address` is its
  /// What the file descriptors allow.
  std::size_t max_connections = static_cast<std::size_t>(-1);

  /// One for each session and each stream, and some for what needs neither.
  std::size_t wanted_connections() const { return max_sessions + max_streams + 64; }
};

/// What speaks against it, as one line; empty: nothing.
std::string fault_of(const FaceOptions& options);

}  // namespace bridge
