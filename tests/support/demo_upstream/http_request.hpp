#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace demo {

/// One HTTP request as the handlers see it; valid until the handler returns.
class HttpRequest {
 public:
  HttpRequest() = default;
  virtual ~HttpRequest() = default;
  HttpRequest(const HttpRequest&) = delete;
  HttpRequest& operator=(const HttpRequest&) = delete;

  virtual std::string_view method() const = 0;
  virtual std::string_view path() const = 0;
  virtual std::string_view body() const = 0;

  /// The first value; empty if absent.
  virtual std::string_view header(const std::string& name) const = 0;
  virtual void each_header(
      const std::function<void(std::string_view name, std::string_view value)>& visit) const = 0;

  /// Of the query; empty if absent.
  virtual std::string parameter(const std::string& name) const = 0;

  /// The number of the TCP connection, from 1.
  virtual std::uint64_t connection() const = 0;

  /// The connection's socket, looked up on each call (see tcp_socket.hpp).
  virtual int descriptor() const = 0;
};

}  // namespace demo
