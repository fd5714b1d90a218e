#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bridge {

// Names and numbers that a peer cannot guess: ids of sessions, jobs, states and instances. Every
// one of them is drawn here.
//
// Thread-safe. No name is ever made of fewer random bytes than were asked for: if the kernel gives
// none, these throw std::system_error, at the start as later.

/// A source of random bytes: fills all of them, or returns false, with errno.
using RandomSource = bool (*)(std::span<unsigned char> bytes);

/// Fills from the first source that can. Throws std::system_error if none can.
void fill_randomly(std::span<unsigned char> bytes, std::span<const RandomSource> sources);
/// From getrandom(2); where that is forbidden or missing, from /dev/urandom.
void fill_randomly(std::span<unsigned char> bytes);

/// `count` bytes.
std::string random_bytes(std::size_t count);
/// The hexadecimal digits of `count` bytes; 16 cannot be guessed by trying.
std::string random_hex(std::size_t count);
std::uint64_t random_number();

}  // namespace bridge
