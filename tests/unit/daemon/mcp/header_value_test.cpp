#include "mcp/mirrored_headers.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bridge;

TEST_CASE("values that a header cannot carry as they are stand in it as Base64") {
  struct Row {
    std::string text, value;
  };
  const Row rows[] = {
      {"us-west1", "us-west1"},
      {"a b,c;d\"", "a b,c;d\""},
      {"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
      {" padded ", "=?base64?IHBhZGRlZCA=?="},
      {"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
      {"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
      {"=?BASE64?x?=", "=?BASE64?x?="},
      {"=?base64?", "=?base64?"},
      {"",
       "=?base64?"
       "?="},
      {"\t", "=?base64?CQ==?="},
      {std::string("a\0b", 3), "=?base64?YQBi?="},
      {"\x7f", "=?base64?fw==?="},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(encode_header_value(row.text) == row.value);
    CHECK(decode_header_value(row.value) == row.text);
  }
}

TEST_CASE("a header that holds no value is refused") {
  for (const char* value : {"=?base64?a?=", "=?base64?ab?=", "=?base64?ab=c?=", "=?base64?a===?=",
                            "=?base64?YQ==YQ==?=", "=?base64?Y Q=?=", "=?base64?-_-_?=", "a\nb",
                            "a\rb", "\x7f", "caf\xc3\xa9"}) {
    CAPTURE(value);
    CHECK_FALSE(decode_header_value(value));
  }
  CHECK(decode_header_value("a\tb") == "a\tb");
  CHECK(decode_header_value("=?base64?=") == "=?base64?=");
}

TEST_CASE("integers are one text however they are written") {
  for (const char* number : {"42", "42.0", "4.2e1", "420E-1"}) CHECK(integer_text(number) == "42");
  CHECK(integer_text("-7") == "-7");
  CHECK(integer_text("-0") == "0");
  CHECK(integer_text("9007199254740991") == "9007199254740991");
  CHECK(integer_text("-9007199254740991") == "-9007199254740991");
  for (const char* other : {"", "4.5", "9007199254740992", "1e400", "1e999999", "inf", "nan",
                            "0x2a", "42 ", " 42", "+42", "true", "-"}) {
    CAPTURE(other);
    CHECK_FALSE(integer_text(other));
  }
}
