#include "text/sha256.hpp"

#include <bit>
#include <cstdint>

#include "text/characters.hpp"

namespace bridge {
namespace {

using Word = std::uint32_t;
using State = std::array<Word, 8>;
constexpr std::size_t block_size = 64;
constexpr std::size_t rounds = 64;

constexpr State initial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

constexpr std::array<Word, rounds> constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

Word word_at(std::string_view block, std::size_t at) {
  Word word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = word << 8 | static_cast<unsigned char>(block[at + i]);
  return word;
}

void add_block(State& state, std::string_view block) {
  std::array<Word, rounds> schedule{};
  for (std::size_t i = 0; i < 16; ++i) schedule[i] = word_at(block, 4 * i);
  for (std::size_t i = 16; i < rounds; ++i) {
    const Word older = schedule[i - 15];
    const Word newer = schedule[i - 2];
    const Word mixed_older = std::rotr(older, 7) ^ std::rotr(older, 18) ^ older >> 3;
    const Word mixed_newer = std::rotr(newer, 17) ^ std::rotr(newer, 19) ^ newer >> 10;
    schedule[i] = schedule[i - 16] + mixed_older + schedule[i - 7] + mixed_newer;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < rounds; ++i) {
    const Word sum_e = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const Word first = h + sum_e + ((e & f) ^ (~e & g)) + constants[i] + schedule[i];
    const Word sum_a = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const Word second = sum_a + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const State mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

}  // namespace

Sha256 sha256(std::string_view bytes) {
  State state = initial;
  std::string rest;
  std::size_t at = 0;
  for (; bytes.size() - at >= block_size; at += block_size)
    add_block(state, bytes.substr(at, block_size));
  rest = bytes.substr(at);
  rest += '\x80';
  while (rest.size() % block_size != block_size - 8) rest += '\0';
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) rest += static_cast<char>(bits >> shift & 0xff);
  for (std::size_t i = 0; i < rest.size(); i += block_size)
    add_block(state, std::string_view(rest).substr(i, block_size));
  Sha256 digest{};
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<unsigned char>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string sha256_hex(std::string_view bytes) { return hex_of(sha256(bytes)); }

}  // namespace bridge
