#pragma once

#include <cstdint>
#include <string>

namespace bridge {

/// The bearer token in hand, for another image of the program to use: it is not fetched anew. A
/// value, and a secret: it goes through memory only. Times are in ticks of SteadyTime.
struct KeptToken {
  std::string token;               ///< empty: there is none, but what is to be asked for
  bool expires_by_itself = false;  ///< else the two times say nothing
  std::uint64_t refresh = 0;       ///< when it is to be replaced
  std::uint64_t expires = 0;
  std::string announced;  ///< where the upstream has said that its metadata are
  std::string scope{};    ///< that a 403 has led to; empty: none has

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(token, expires_by_itself, refresh, expires, announced, scope);
  }
};

}  // namespace bridge
