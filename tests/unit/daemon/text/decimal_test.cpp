#include "text/decimal.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace bridge;

TEST_CASE("a number with a fraction is read as JSON has it, and nothing else is") {
  const struct {
    const char* text;
    std::optional<double> number;
  } table[] = {
      {"0.5", 0.5},   {"-0.0", -0.0}, {"1e3", 1000.0}, {"1E-2", 0.01}, {"2.5e+1", 25.0},
      {"1e-400", {}}, {"1e400", {}},  {"-1e400", {}},  {"", {}},       {"+1", {}},
      {" 1", {}},     {"1 ", {}},     {"inf", {}},     {"nan", {}},    {"0x10", {}},
      {"1.2.3", {}},  {"1e", {}},     {"e1", {}},      {"1,5", {}},    {"--1", {}},
  };
  for (const auto& row : table) {
    CAPTURE(row.text);
    CHECK(to_double(row.text) == row.number);
  }
}

TEST_CASE("the shortest text is read as the same number again") {
  const struct {
    double number;
    const char* text;
  } table[] = {
      {0.1, "0.1"},
      {1.0 / 3, "0.3333333333333333"},
      {0.1 + 0.2, "0.30000000000000004"},
      {5, "5"},
      {-2.5, "-2.5"},
      {1e300, "1e+300"},
      {1e-7, "1e-07"},
      {1234567.875, "1234567.875"},
      {5e-324, "5e-324"},
  };
  for (const auto& row : table) {
    CHECK(to_double(row.text) == row.number);
    if (row.number != 5e-324) CHECK(shortest_text(row.number) == row.text);
    CHECK(to_double(shortest_text(row.number)) == row.number);
  }
  CHECK(to_double(shortest_text(std::numeric_limits<double>::max())) ==
        std::numeric_limits<double>::max());
}

TEST_CASE("a number is rounded to what is asked") {
  CHECK(general_text(1234567, 6) == "1.23457e+06");
  CHECK(general_text(2.5, 6) == "2.5");
  CHECK(fixed_text(2.25, 1) == "2.2");
  CHECK(fixed_text(0, 3) == "0.000");
  CHECK(fixed_text(1e22, 0) == "10000000000000000000000");
}
