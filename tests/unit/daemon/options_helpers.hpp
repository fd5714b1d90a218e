#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/start_error.hpp"
#include "options/options.hpp"

extern char** environ;

namespace bridge {

using Arguments = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

/// Sets the environment to exactly what a test says; restores it at the end.
class OnlyEnvironment {
 public:
  explicit OnlyEnvironment(const Environment& wanted) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text(*entry);
      before_[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
    }
    replace(wanted);
  }
  ~OnlyEnvironment() { replace(before_); }
  OnlyEnvironment(const OnlyEnvironment&) = delete;
  OnlyEnvironment& operator=(const OnlyEnvironment&) = delete;

 private:
  static void replace(const Environment& wanted) {
    clearenv();
    for (const auto& [name, value] : wanted) setenv(name.c_str(), value.c_str(), 1);
  }
  Environment before_;
};

inline ParsedOptions parsed(Arguments arguments, const Environment& environment = {}) {
  const OnlyEnvironment only(environment);
  arguments.insert(arguments.begin(), "mcp-bridged");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  return parse_options(static_cast<int>(arguments.size()), argv.data());
}

inline const Environment upstream = {{"MCP_SERVER_URL", "http://127.0.0.1:1/mcp"}};

/// Parses the arguments, with an upstream given.
inline Options options_of(const Arguments& arguments, Environment environment = {}) {
  environment.insert(upstream.begin(), upstream.end());
  return parsed(arguments, environment).options;
}

struct Refused {
  int code = 0;
  std::string line;
};

/// The error of a start with these; code 0 if there is none. Always one line.
inline Refused refused(const Arguments& arguments, Environment environment = {},
                       bool with_upstream = true) {
  if (with_upstream) environment.insert(upstream.begin(), upstream.end());
  try {
    parsed(arguments, environment);
  } catch (const StartError& error) {
    const std::string line = error.what();
    CHECK_FALSE(line.empty());
    CHECK(line.find('\n') == std::string::npos);
    return {error.code(), line};
  }
  return {};
}

inline bool mentions(const Refused& refusal, const std::string& text) {
  return refusal.line.find(text) != std::string::npos;
}

/// A file that is removed after the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    std::string name = "/tmp/bridge-options-XXXXXX";
    const int descriptor = mkstemp(name.data());
    REQUIRE(descriptor >= 0);
    close(descriptor);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bridge
