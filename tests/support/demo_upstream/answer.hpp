#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace demo {

/// The target of a streamed body. `write` returns false once nothing more can be sent.
class Sink {
 public:
  Sink() = default;
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  virtual bool write(std::string_view bytes) = 0;
  virtual int descriptor() const = 0;
};

/// How a streamed body ends: in order, by FIN without the last chunk, by RST, or with the client.
enum class BodyEnd { kClose, kCut, kReset, kGone };

/// "close", "cut", "reset"; anything else is `kClose`.
BodyEnd body_end(std::string_view name);

/// Writes a whole body, in the connection's thread; may run without end.
using BodyWriter = std::function<BodyEnd(Sink&)>;

/// How a response is spoilt on its way.
struct Spoiling {
  enum class Instead { kNothing, kHang, kHeaderHang, kFinish, kReset };

  Instead instead = Instead::kNothing;  ///< of any response
  std::optional<std::size_t> truncate_at;
  bool reset_after = false;  ///< RST instead of FIN after the truncated response
  int trickle_ms = 0;        ///< per byte

  bool any() const { return instead != Instead::kNothing || truncate_at || trickle_ms > 0; }
};

/// The response to one HTTP request. A `writer` is used instead of `body` and is sent chunked.
struct Answer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_type;
  std::string body;
  bool chunked = false;
  BodyWriter writer;
  Spoiling spoiling;

  static Answer json(std::string body, int status = 200);
  static Answer empty(int status);
  static Answer events(BodyWriter writer);
};

/// A JSON-RPC error with `id: null` if the request's id is unknown or does not matter.
Answer rpc_error(int status, int code, std::string_view message, std::string_view id = "null");

}  // namespace demo
