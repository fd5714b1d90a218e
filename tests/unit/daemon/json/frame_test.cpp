#include "json/frame.hpp"

#include <doctest/doctest.h>

#include <string>

#include "frames.hpp"

using bridge::fault_of;
using bridge::Frame;
using bridge::frame_of;
using bridge::FrameFault;
using bridge::FrameKind;
using bridge::parse_frame;

TEST_CASE("a request has a method and an id") {
  const Frame frame =
      frame_of(R"( {"jsonrpc":"2.0", "id" : 7 ,"method":"tools/call","params":{"name":"x"}} )");
  CHECK(frame.kind == FrameKind::request);
  CHECK(frame.is_request());
  CHECK(frame.method == "tools/call");
  CHECK(frame.text(frame.id) == "7");
  CHECK(frame.text(frame.params) == R"({"name":"x"})");
  CHECK_FALSE(frame.result.present());
  CHECK_FALSE(frame.error.present());
}

TEST_CASE("what a request is about stands where its params say it") {
  const auto about = [](std::string text) {
    const Frame frame = frame_of(std::move(text));
    return std::string(frame.text(frame.name)) + ' ' + std::string(frame.text(frame.arguments));
  };
  CHECK(about(R"({"id":1,"method":"a","params":{"name":"t","arguments":{"name":"x"}}})") ==
        R"("t" {"name":"x"})");
  CHECK(about(R"({"id":1,"method":"a","params":{"n\u0061me":1,"name":"u"}})") == R"("u" )");
  CHECK(about(R"({"id":1,"method":"a","name":"t","params":{"a":{"name":"x"}}})") == " ");
  CHECK(about(R"({"id":1,"result":{"name":"t"},"params":{"name":"t"}})") == " ");
}

TEST_CASE("a notification has a method and no id") {
  const Frame frame = frame_of(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  CHECK(frame.is_notification());
  CHECK_FALSE(frame.id.present());
  CHECK_FALSE(frame.params.present());
}

TEST_CASE("a response has an id and a result or an error") {
  const Frame result = frame_of(R"({"jsonrpc":"2.0","id":"a","result":null})");
  CHECK(result.is_response());
  CHECK(result.text(result.id) == R"("a")");
  CHECK(result.text(result.result) == "null");
  const Frame error = frame_of(R"({"jsonrpc":"2.0","error":{"code":1,"message":"m"},"id":1})");
  CHECK(error.is_response());
  CHECK(error.text(error.error) == R"({"code":1,"message":"m"})");
  CHECK(error.method.empty());
}

TEST_CASE("an id is a string or a number of any form, kept byte for byte") {
  for (const char* id :
       {"0", "\"\"", "-1", "1.5", R"("a\"b")", "123456789012345678901234567890", "1e400", "-0",
        R"("\u0069\ud83d\ude00")", "\"null\"", R"("\ud800")", "\"\xC3\xA9\""}) {
    CAPTURE(id);
    const Frame request =
        frame_of(R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"ping"})");
    CHECK(request.is_request());
    CHECK(request.text(request.id) == id);
    const Frame response =
        frame_of(R"({"jsonrpc":"2.0","result":{},"id":)" + std::string(id) + "}");
    CHECK(response.is_response());
    CHECK(response.text(response.id) == id);
    CHECK_FALSE(response.id_is_null);
  }
}

TEST_CASE("any other id is refused") {
  for (const char* id : {"null", "true", "false", "{}", "[]", "[1]"}) {
    CAPTURE(id);
    CHECK(fault_of(R"({"jsonrpc":"2.0","method":"ping","id":)" + std::string(id) + "}") == -32600);
    CHECK(fault_of(R"({"jsonrpc":"2.0","result":{},"id":)" + std::string(id) + "}") == -32600);
  }
}

TEST_CASE("an error may answer nothing: a null id, which only an upstream may send") {
  const Frame frame =
      frame_of(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}})");
  CHECK(frame.is_response());
  CHECK(frame.id_is_null);
}

TEST_CASE("what is none of the three kinds is invalid") {
  for (const char* text : {
           R"({"jsonrpc":"2.0","id":1,"method":"a","result":{}})",
           R"({"jsonrpc":"2.0","id":1,"method":"a","error":{}})",
           R"({"jsonrpc":"2.0","method":"a","result":{}})",
           R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})",
           R"({"jsonrpc":"2.0","id":1,"result":null,"error":null})",
           R"({"jsonrpc":"2.0","id":1})",
           R"({"jsonrpc":"2.0","result":{}})",
           R"({"jsonrpc":"2.0","error":{}})",
           R"({"jsonrpc":"2.0","id":1,"method":7})",
           R"({"jsonrpc":"2.0","id":1,"method":null})",
           R"({"jsonrpc":"2.0","id":1,"method":["a"]})",
           R"({"jsonrpc":"2.0","method":{}})",
           R"({"jsonrpc":"2.0"})",
           "{}",
       }) {
    CAPTURE(text);
    CHECK(fault_of(text) == -32600);
  }
}

TEST_CASE("a missing or strange jsonrpc is tolerated") {
  CHECK(frame_of(R"({"id":1,"method":"ping"})").is_request());
  CHECK(frame_of(R"({"jsonrpc":"1.0","method":"ping"})").is_notification());
  CHECK(frame_of(R"({"jsonrpc":2,"id":1,"result":{}})").is_response());
}

TEST_CASE("JSON that is no object is invalid, what is no JSON is a parse error") {
  for (const char* text : {"1", "\"text\"", "null", "true", "[]", "[1,2]", " -1.5e3 "}) {
    CAPTURE(text);
    CHECK(fault_of(text) == -32600);
  }
  for (const char* text :
       {"", " ", "hello", "1 2", "{", "}", "[1,2}",
        R"({"id":1,"method":"a"]", R"({"id":1 "method":"a"})", R"({"id":1,"method":"a",})",
        R"({'id':1})", R"({"id":01,"method":"a"})", R"({"id":1.,"method":"a"})",
        R"({"id":.5,"method":"a"})", R"({"id":+1,"method":"a"})", R"({"id":-,"method":"a"})",
        R"({"id":1e,"method":"a"})", R"({"id":1,"method":"\x"})", R"({"id":1,"method":"\u12"})",
        R"({"id":1,"method":tru})"}) {
    CAPTURE(text);
    CHECK(fault_of(text) == -32700);
  }
}

TEST_CASE("one line is one value") {
  CHECK(fault_of(R"({"id":1,"method":"a"}{"id":2,"method":"a"})") == -32700);
  CHECK(fault_of(R"({"id":1,"method":"a"} {"id":2,"method":"a"})") == -32700);
  CHECK(fault_of(R"({"id":1,"method":"a"}x)") == -32700);
  CHECK(fault_of(R"({"id":1,"method":"a"},)") == -32700);
  CHECK(fault_of(R"(1{"id":1,"method":"a"})") == -32700);
  CHECK(fault_of(R"([] {"id":1,"method":"a"})") == -32700);
}

TEST_CASE("the grammar is checked everywhere, also where the bridge does not look") {
  for (const char* value :
       {"[1,2}", "01", "\"\\q\"", "\"\t\"", "tru", "{\"a\":}", "[1,]", "{\"a\":1,}", "\"\\ud8\""}) {
    CAPTURE(value);
    CHECK(fault_of(R"({"id":1,"method":"a","x":)" + std::string(value) + "}") == -32700);
    CHECK(fault_of(R"({"id":1,"method":"a","params":{"x":)" + std::string(value) + "}}") == -32700);
    CHECK(fault_of(R"({"id":1,"method":"a","params":{"_meta":{"x":)" + std::string(value) +
                   "}}}") == -32700);
    CHECK(fault_of(R"({"id":1,"result":{"x":[)" + std::string(value) + "]}}") == -32700);
  }
}

TEST_CASE("only UTF-8 is read") {
  CHECK(fault_of("{\"id\":1,\"method\":\"\xC3\xA9\xF0\x9F\x98\x80\"}") == 0);
  for (const char* bytes :
       {"\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\x80", "\xE2\x82"}) {
    CHECK(fault_of("{\"id\":1,\"method\":\"" + std::string(bytes) + "\"}") == -32700);
  }
  CHECK(fault_of(std::string_view("{\"id\":1,\"method\":\"a\"}\0", 23)) == -32700);
}

TEST_CASE("names and the method are read after unescaping") {
  const Frame frame = frame_of(R"({"\u0069d":5,"m\u0065thod":"p\u0069ng","par\u0061ms":{}})");
  CHECK(frame.is_request());
  CHECK(frame.text(frame.id) == "5");
  CHECK(frame.method == "ping");
  CHECK(frame.text(frame.params) == "{}");
  CHECK(frame_of(R"({"i\u0064":5,"\u0072esult":{}})").is_response());
  CHECK(fault_of(R"({"i\u0064":5,"\u0072esult":{},"err\u006fr":{}})") == -32600);
}

TEST_CASE("reading never changes a byte") {
  for (
      const char* text :
      {R"( {"b":0.10,"a":1e400,"method":"x","params":{"k":1,"k":2,"u":"\u00e9\/"}, "id" :"\u0031" , "z":[ ] } )",
       R"({"id":1,"result":{"result":{"id":2,"id":3},"n":123456789012345678901234567890}})"}) {
    CHECK(frame_of(text).bytes == text);
  }
}

TEST_CASE("a frame as long as the limit is read like a short one") {
  const std::string text =
      R"({"id":1,"method":"a","params":{"x":")" + std::string(8u << 20, 'y') + "\"}}";
  const Frame frame = frame_of(text);
  CHECK(frame.params.end == text.size() - 1);
  CHECK(frame.bytes == text);
}
