#include "harness/report.hpp"

#include <cstdio>

namespace bench {
namespace {

std::string shown(double figure, const std::string& unit) {
  char text[64];
  const int decimals = figure < 10 ? 3 : figure < 1000 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", decimals, figure, unit.c_str());
  return text;
}

}  // namespace

void Report::title(const std::string& text) { std::printf("\n%s\n", text.c_str()); }

void Report::line(const std::string& what, double figure, const std::string& unit,
                  const std::string& limit, const std::string& verdict) {
  std::printf("  %-58s %16s  %-16s %s\n", what.c_str(), shown(figure, unit).c_str(), limit.c_str(),
              verdict.c_str());
  std::fflush(stdout);
}

void Report::at_most(const std::string& what, double figure, double limit,
                     const std::string& unit) {
  const bool ok = figure <= limit;
  all_ok_ = all_ok_ && ok;
  line(what, figure, unit, "<= " + shown(limit, unit), ok ? "ok" : "NOT OK");
}

void Report::at_least(const std::string& what, double figure, double limit,
                      const std::string& unit) {
  const bool ok = figure >= limit;
  all_ok_ = all_ok_ && ok;
  line(what, figure, unit, ">= " + shown(limit, unit), ok ? "ok" : "NOT OK");
}

void Report::note(const std::string& what, double figure, const std::string& unit) {
  line(what, figure, unit, "", "");
}

void Report::left_out(const std::string& what) {
  std::printf("  %-58s %16s\n", what.c_str(), "left out");
  std::fflush(stdout);
}

}  // namespace bench
