#pragma once

#include <cstdint>
#include <string>

namespace bridge {

/// The listening socket, its lock and what its path is known by, for another image of the program
/// to go on with. A value.
struct KeptSocket {
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  std::string name;
  std::uint64_t descriptor = none;
  std::uint64_t lock = none;
  bool abstract = false;
  bool owns_path = false;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(name, descriptor, lock, abstract, owns_path, device, inode);
  }
};

}  // namespace bridge
