#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

enum class MetricKind { counter, gauge, histogram };

using Labels = std::vector<std::pair<std::string, std::string>>;

/// Builds the Prometheus text exposition (format 0.0.4) of one moment: a family, then its samples,
/// then the next family. Only exposition.cpp knows the library that writes it. Pure; lives for one
/// response.
class Exposition {
 public:
  /// `common` labels are added to every sample.
  explicit Exposition(Labels common);
  ~Exposition();
  Exposition(const Exposition&) = delete;
  Exposition& operator=(const Exposition&) = delete;

  /// Begins a family. The name carries its unit; that of a counter ends in `_total`.
  void family(MetricKind kind, std::string name, std::string help);
  /// A sample of the current family, which must not be a histogram.
  void sample(double value, const Labels& labels = {});
  /// A histogram: `cumulative` are (upper bound, count at or below it), in increasing order;
  /// `count` is the total.
  void histogram(const std::vector<std::pair<double, std::uint64_t>>& cumulative,
                 std::uint64_t count, double sum, const Labels& labels = {});

  /// A family with one sample.
  void counter(std::string name, std::string help, std::uint64_t value);
  void gauge(std::string name, std::string help, double value);

  std::string text() const;

 private:
  struct Families;
  Labels common_;
  std::unique_ptr<Families> families_;
};

}  // namespace bridge
