#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "../support/temporary_folder.hpp"
#include "auth/access_token.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// A loop to run sources on, and a temporary folder.
struct LoopFixture {
  std::string path(const std::string& name) const { return (folder.path / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  /// Replaces a file by renaming, as a careful writer does.
  void replace(const std::string& name, const std::string& text) const {
    write(name + ".new", text);
    std::filesystem::rename(path(name + ".new"), path(name));
  }

  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Runs the loop until the condition is true, or for half a minute.
  bool comes_true(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      loop.run_once(std::chrono::milliseconds(20));
    }
    return true;
  }
  void run_until(const std::function<bool()>& condition) { REQUIRE(comes_true(condition)); }

  TokenAnswer fetch(TokenSource& source) {
    std::optional<TokenAnswer> answer;
    source.fetch([&](const TokenAnswer& given) {
      CHECK(!answer);
      answer = given;
    });
    CHECK(!answer);
    run_until([&] { return answer.has_value(); });
    return *answer;
  }

  EventLoop loop;
  Log log{LogLevel::off};
  TemporaryFolder folder;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace bridge
