#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "http_request.hpp"
#include "journal.hpp"
#include "message.hpp"

namespace demo {

/// One request to the endpoint, as the log shows it.
struct SeenRequest {
  std::uint64_t n = 0;
  double at_ms = 0;
  std::string http_method;
  std::string path;
  std::string headers;  ///< name NUL value NUL …: one allocation, as this is on the hot path
  std::string body;
  std::string method;
  std::string id;
  std::string session_id;
  std::uint64_t connection = 0;

  std::size_t size() const { return sizeof *this + headers.size() + body.size(); }
  std::string json() const;
};

SeenRequest seen(const HttpRequest& request, const Message& message);

/// One response of a client to a request of the server.
struct SeenAnswer {
  std::uint64_t n = 0;
  double at_ms = 0;
  std::string id;
  std::string session_id;
  std::string body;

  std::size_t size() const { return sizeof *this + body.size(); }
  std::string json() const;
};

/// CLOCK_MONOTONIC, so that a test can compare it with its own.
double monotonic_ms();

using RequestLog = Journal<SeenRequest>;
using AnswerLog = Journal<SeenAnswer>;

}  // namespace demo
