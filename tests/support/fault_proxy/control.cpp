#include "control.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <sstream>
#include <vector>

namespace proxy {
namespace {

constexpr std::size_t kMaxLine = 1000;

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream stream{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::optional<std::uint64_t> number(const std::vector<std::string>& words) {
  if (words.size() < 2) return std::nullopt;
  const auto& text = words[1];
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> on_or_off(const std::vector<std::string>& words) {
  if (words.size() != 2 || (words[1] != "on" && words[1] != "off")) return std::nullopt;
  return words[1] == "on";
}

std::optional<Limit::Kind> kind_of(std::string_view name) {
  if (name.starts_with("cut-")) return Limit::Kind::kCut;
  if (name.starts_with("reset-")) return Limit::Kind::kReset;
  if (name.starts_with("hang-")) return Limit::Kind::kHang;
  return std::nullopt;
}

std::string obey_limit(const std::vector<std::string>& words, Limit::Kind kind, Proxy& proxy) {
  const auto after = number(words);
  if (!after) return "error wants a number of bytes";
  const bool once = words.size() == 3 && words[2] == "once";
  if (words.size() > 2 && !once) return "error only once may follow";
  const auto direction = words[0].ends_with("-up") ? Direction::kUp : Direction::kDown;
  proxy.set_limit(direction, Limit{kind, *after, once});
  return "ok";
}

std::string obey_number(const std::vector<std::string>& words, Proxy& proxy) {
  const auto value = number(words);
  if (!value) return "error wants a number";
  if (words[0] == "delay-ms") {
    proxy.rules().delay = std::chrono::milliseconds(*value);
  } else {
    proxy.rules().bytes_per_second = *value;
  }
  return "ok";
}

std::string obey_switch(const std::vector<std::string>& words, Proxy& proxy) {
  const auto on = on_or_off(words);
  if (!on) return "error wants on or off";
  if (words[0] == "refuse") return proxy.set_refuse(*on) ? "ok" : "error the port is taken";
  proxy.set_accept_hang(*on);
  return "ok";
}

std::string obey_to(const std::vector<std::string>& words, Proxy& proxy) {
  const auto address = words.size() == 2 ? parse_address(words[1]) : std::nullopt;
  if (!address) return "error wants HOST:PORT";
  proxy.set_server(*address);
  return "ok";
}

}  // namespace

std::string obey(std::string_view line, Proxy& proxy, bool& quit) {
  const auto words = words_of(line);
  if (words.empty()) return "error empty";
  const auto& name = words[0];
  if (name.ends_with("-after-up") || name.ends_with("-after-down")) {
    if (const auto kind = kind_of(name)) return obey_limit(words, *kind, proxy);
  }
  if (name == "delay-ms" || name == "throttle") return obey_number(words, proxy);
  if (name == "refuse" || name == "accept-hang") return obey_switch(words, proxy);
  if (name == "to") return obey_to(words, proxy);
  if (name == "stats") return proxy.stats();
  if (name == "pass") return proxy.pass() ? "ok" : "error the port is taken";
  if (name == "close-all") return proxy.cut_all(Clock::now()), "ok";
  if (name == "reset-all") return proxy.reset_all(), "ok";
  if (name == "hang-all") return proxy.hang_all(), "ok";
  if (name == "quit") return quit = true, "ok";
  return "error unknown command";
}

bool ControlConnection::read(Proxy& proxy, bool& quit) {
  std::array<char, 4096> buffer;
  const auto got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  line_.append(buffer.data(), static_cast<std::size_t>(got));
  std::string answers;
  for (auto end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
    answers += obey(std::string_view(line_).substr(0, end), proxy, quit) + '\n';
    line_.erase(0, end + 1);
  }
  // Short answers to a test on the same machine, which fit the socket's buffer.
  return line_.size() < kMaxLine && (answers.empty() || ::send(socket_.get(), answers.data(),
                                                               answers.size(), MSG_NOSIGNAL) > 0);
}

}  // namespace proxy
