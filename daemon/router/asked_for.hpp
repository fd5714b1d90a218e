#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// What a client must have declared to be asked a request of the upstream, as bits: one of them is
/// enough. None: any client that has initialized may be asked, and knows itself what it answers
/// (MCP 2025-11-25, "Client Features").
enum class AskedFor : std::uint8_t {
  anything = 0,
  sampling = 1,
  elicitation_form = 2,
  elicitation_url = 4,
  roots = 8,
};

constexpr AskedFor last_of(AskedFor) { return static_cast<AskedFor>(15); }  // all bits
constexpr AskedFor operator|(AskedFor left, AskedFor right) {
  return static_cast<AskedFor>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}
constexpr bool overlap(AskedFor left, AskedFor right) {
  return (static_cast<unsigned>(left) & static_cast<unsigned>(right)) != 0;
}

/// What this request of the upstream asks for. `params` is JSON, or empty.
AskedFor asked_for(std::string_view method, std::string_view params);

/// The capabilities, as JSON, that a client must declare to be asked this.
std::string_view capabilities_for(AskedFor asked);

/// What `capabilities`, a client's in its `initialize`, declare. Anything but an object declares
/// nothing. An elicitation that names no mode is the one by form.
AskedFor declared_by(std::string_view capabilities);

/// Which requests of the upstream one client has said that it answers: by the capabilities of its
/// own `initialize`, or by `bridge/answers`. One that has said nothing answers nothing. Pure.
/// Bounded by max_methods of max_method_bytes.
class DeclaredAnswers {
 public:
  static constexpr std::size_t max_methods = 64;
  static constexpr std::size_t max_method_bytes = 128;

  /// It has sent `initialize`, with these capabilities.
  void initialize(std::string_view capabilities);
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
  /// Whether the client has declared which requests it answers, possibly none. Naming only roots
  /// does not say that it answers no others.
  bool has_declared() const;

  template <class A>
  void each_field(A& archive) {
    archive(methods_, capabilities_, initializes_, initialized_);
  }

 private:
  std::vector<std::string> methods_;
  AskedFor capabilities_ = AskedFor::anything;
  bool initializes_ = false;
  bool initialized_ = false;
};

}  // namespace bridge
