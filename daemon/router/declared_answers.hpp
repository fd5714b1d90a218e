#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "router/asked_for.hpp"

namespace bridge {

/// Which requests of the upstream one client has said that it answers: by the capabilities of its
/// own `initialize`, or by `bridge/answers`. One that has said nothing answers nothing. Pure.
/// Bounded by max_methods of max_method_bytes.
class DeclaredAnswers {
 public:
  static constexpr std::size_t max_methods = 64;
  static constexpr std::size_t max_method_bytes = 128;

  /// It has sent `initialize`, with these capabilities.
  void initialize(std::string_view capabilities);
  /// Whatever is asked: somebody will answer it.
  void everything() { answers_everything_ = true; }
  /// It has sent `notifications/initialized`: before that it is not asked (MCP, "Lifecycle").
  void initialized() { initialized_ = true; }
  /// It has sent `bridge/answers` with these params, {"methods": […]}, which take the place of
  /// those that it named before. False, and nothing changes, if they are of another form or over a
  /// bound.
  bool name_methods(std::string_view params);

  bool covers(std::string_view method, AskedFor asked) const;
  /// Whether it has named this method by `bridge/answers`: so it knows the bridge.
  bool names(std::string_view method) const;
  /// Whether it declares capabilities to answer questions by.
  bool has_capabilities() const { return capabilities_ != AskedFor::anything; }
  /// Whether it has said what it answers, be it nothing. Who has only named its roots has not said
  /// that it asks nobody.
  bool has_declared() const;

  template <class A>
  void each_field(A& archive) {
    archive(methods_, capabilities_, archive.not_saved(answers_everything_), initializes_,
            initialized_);
  }

 private:
  std::vector<std::string> methods_;
  AskedFor capabilities_ = AskedFor::anything;
  bool answers_everything_ = false;
  bool initializes_ = false;
  bool initialized_ = false;
};

}  // namespace bridge
