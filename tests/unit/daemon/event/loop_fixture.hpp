#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "../../temporary_folder.hpp"
#include "../../words.hpp"
#include "auth/access_token.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// A loop to run sources on, in a temporary folder.
struct LoopFixture : TemporaryFolder {
  /// Replaces a file by renaming, as a careful writer does.
  void replace(const std::string& name, const std::string& text) const {
    write(name + ".new", text);
    std::filesystem::rename(path(name + ".new"), path(name));
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
};

}  // namespace bridge
