#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "router/declared_answers.hpp"

namespace bridge {

/// What the router knows of a connected client, for another image of the program to go on with,
/// and its frames that were not started. A value. Its requests in flight are not part of it.
struct KeptClient {
  std::uint64_t id = 0;  ///< ClientId
  bool served = true;    ///< ServedClient
  DeclaredAnswers declared;
  std::string capabilities;
  std::string info;
  bool modern = false;
  bool half_closed = false;
  bool peeks = false;
  bool seen_frame = false;
  bool seen_ordinary_frame = false;
  std::vector<std::string> waiting;        ///< in the order they came
  std::vector<std::string> control;        ///< `bridge/*` requests, likewise
  std::vector<std::string> subscriptions;  ///< uris

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(id, served, declared, capabilities, info, modern, half_closed, peeks, seen_frame,
           seen_ordinary_frame, waiting, control, subscriptions);
  }
};

}  // namespace bridge
