#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

using Lines = std::vector<std::string>;

/// Lets a failing test show the lines it compared.
template <>
struct doctest::StringMaker<Lines> {
  static doctest::String convert(const Lines& lines) {
    std::string text = "{";
    for (const std::string& line : lines) text += " '" + line + "'";
    return (text + " }").c_str();
  }
};
