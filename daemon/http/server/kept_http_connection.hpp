#pragma once

#include <cstdint>
#include <string>

namespace bridge {

/// A connection in the clear on which a request waits for its answer, of which nothing was written
/// yet, for another image of the program to answer. A value; the descriptor stays whose it is.
struct KeptHttpConnection {
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  std::uint64_t descriptor = none;
  std::string early;  ///< came before the answer
  bool keeps_connection = true;
  bool is_http_1_0 = false;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(descriptor, early, keeps_connection, is_http_1_0);
  }
};

}  // namespace bridge
