#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// The capabilities that a client must have declared to be asked a request of the upstream, as
/// bits: one of them is enough. With no bit, any initialized client can be asked; it decides itself
/// what it answers (MCP 2025-11-25, "Client Features").
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

/// The capabilities that this request of the upstream requires. `params` is JSON, or empty.
AskedFor asked_for(std::string_view method, std::string_view params);

/// The id of the server's task that a request is about, raw JSON; empty: none (MCP 2025-11-25,
/// "Tasks: Related Task Metadata").
std::string_view related_task(std::string_view params);

/// These capabilities as JSON, for an error message.
std::string_view capabilities_for(AskedFor asked);

/// What `capabilities`, from a client's `initialize`, declare. Anything but an object declares
/// nothing. An elicitation without a mode means form mode.
AskedFor declared_by(std::string_view capabilities);

/// The requests of the upstream that one client answers: declared by the capabilities of its own
/// `initialize`, or by `bridge/answers`. Without either it answers none. Pure. Bounds: max_methods,
/// each of max_method_bytes.
class DeclaredAnswers {
 public:
  static constexpr std::size_t max_methods = 64;
  static constexpr std::size_t max_method_bytes = 128;

  /// The client has sent `initialize` with these capabilities.
  void initialize(std::string_view capabilities);
  /// The client has sent `notifications/initialized`; it is not asked before (MCP, "Lifecycle").
  void initialized() { initialized_ = true; }
  /// The client has sent `bridge/answers` with these params, {"methods": […]}; they replace those
  /// of an earlier one. Returns false and changes nothing if the params are malformed or over a
  /// bound.
  bool name_methods(std::string_view params);

  bool covers(std::string_view method, AskedFor asked) const;
  /// Whether the client has named this method in `bridge/answers`, so it knows the bridge.
  bool names(std::string_view method) const;
  /// Whether the client has declared capabilities for answering questions.
  bool has_capabilities() const { return capabilities_ != AskedFor::anything; }
  /// Whether the client has declared which requests it answers, possibly none. Declaring only roots
  /// does not mean that it answers no others.
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
