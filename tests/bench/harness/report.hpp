#pragma once

#include <string>

namespace bench {

/// Prints a line for each figure when it is known, and records whether all were within their
/// limits.
class Report {
 public:
  void title(const std::string& text);
  void at_most(const std::string& what, double figure, double limit, const std::string& unit);
  void at_least(const std::string& what, double figure, double limit, const std::string& unit);
  /// A figure without a limit.
  void note(const std::string& what, double figure, const std::string& unit);

  /// A figure that cannot be measured here; not a failure.
  void left_out(const std::string& what);

  bool all_ok() const { return all_ok_; }

 private:
  void line(const std::string& what, double figure, const std::string& unit,
            const std::string& limit, const std::string& verdict);

  bool all_ok_ = true;
};

}  // namespace bench
