#include "servers/places.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <array>
#include <bit>
#include <cstring>

#include "servers/variables.hpp"
#include "text/characters.hpp"
#include "text/visible_text.hpp"

namespace client {
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

constexpr std::size_t longest_name = 32;
constexpr std::size_t hash_digits = 24;

/// Returns why it is unusable.
std::string make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fmt::format("cannot create the folder {}: {}", path, std::strerror(errno));
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
    return fmt::format("{} is not a folder", path);
  if (facts.st_uid != ::geteuid())
    return fmt::format("the folder {} belongs to the user {}", path, facts.st_uid);
  if ((facts.st_mode & 077) != 0)
    return fmt::format("others may use the folder {0}; close it with: chmod 700 {0}", path);
  return {};
}

std::optional<std::string> folder_in(ReadVariable read, const char* name) {
  auto folder = read(name);
  return folder && folder->front() == '/' ? folder : std::nullopt;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
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
  std::string text;
  for (const Word word : state) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bridge::append_hex(text, static_cast<unsigned char>(word >> shift));
  }
  return text;
}

std::variant<Places, std::string> make_places(ReadVariable read) {
  Places places;
  const auto runtime = folder_in(read, "XDG_RUNTIME_DIR");
  places.runtime =
      runtime ? *runtime + "/mcp-bridged" : fmt::format("/tmp/mcp-bridged-{}", ::geteuid());
  if (auto fault = make_private_folder(places.runtime); !fault.empty()) return fault;
  const auto state = folder_in(read, "XDG_STATE_HOME");
  const auto home = folder_in(read, "HOME");
  if (!state && !home) return std::string("neither XDG_STATE_HOME nor HOME is set to a folder");
  places.state = (state ? *state : *home + "/.local/state") + "/mcp-bridged";
  make_folders(places.state, 0700);  // its parent folders may be open to others
  if (auto fault = make_private_folder(places.state); !fault.empty()) return fault;
  return places;
}

std::string harmless_name(std::string_view name) {
  std::string text(name.substr(0, longest_name));
  for (char& c : text) {
    if (!bridge::is_plain_in_names(c)) c = '_';
  }
  if (text.empty() || text.front() == '.') text.insert(0, "_");
  return text;
}

std::string instance_of(const NamedServer& server, ReadVariable read) {
  // Each part with its length, so that different lists of parts never give the same bytes.
  std::string parts;
  const auto add = [&parts](std::string_view part) {
    parts.append(std::to_string(part.size())).append(":").append(part);
  };
  add(server.file);
  add(server.folder);
  add(server.definition.name);
  add(server.definition.document);
  const NamedVariables variables = variables_of(server.definition);
  const auto add_value = [&](const std::string& name) {
    const auto value = read(name.c_str());
    add(name);
    add(value ? "=" + *value : "");
  };
  for (const auto& [name, has_default] : variables.environment) add_value(name);
  for (const bridge::InputDefinition& input : variables.inputs)
    add_value(bridge::variable_of_input(input.id));
  for (const std::string& word : server.settings.words) add(word);
  if (!server.settings.token.empty()) add(server.settings.token);
  return harmless_name(server.definition.name) + "-" + sha256_hex(parts).substr(0, hash_digits);
}

InstancePaths paths_of(const Places& places, std::string_view instance) {
  return {fmt::format("{}/{}.sock", places.runtime, instance),
          fmt::format("{}/{}.json", places.runtime, instance),
          fmt::format("{}/{}.log", places.state, instance)};
}

FileDescriptor lock_starting(const Places& places, bool waits) {
  FileDescriptor lock(::open((places.runtime + "/starting").c_str(),
                             O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  while (lock && ::flock(lock.get(), waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return {};
  }
  return lock;
}

}  // namespace client
