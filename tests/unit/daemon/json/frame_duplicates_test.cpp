#include <doctest/doctest.h>

#include <string>

#include "frames.hpp"

using bridge::fault_of;
using bridge::Frame;
using bridge::frame_of;

TEST_CASE("a member that the bridge acts on must not stand twice, plain or escaped") {
  for (const char* text : {
           R"({"id":1,"id":1,"method":"a"})",
           R"({"id":1,"id":2,"method":"a"})",
           R"({"id":1,"\u0069d":2,"method":"a"})",
           R"({"\u0069d":1,"i\u0064":2,"method":"a"})",
           R"({"id":1,"method":"a","params":{"id":3},"id":null})",
           R"({"id":1,"method":"a","method":"b"})",
           R"({"id":1,"method":"a","\u006dethod":"a"})",
           R"({"id":1,"method":"a","metho\u0064":7})",
           R"({"id":1,"method":"a","params":{},"params":{}})",
           R"({"id":1,"method":"a","Method":"b"})",
           R"({"id":1,"method":"a","PARAMS":{}})",
           R"({"id":1,"method":"a","params":{},"\u0070arams":[]})",
           R"({"method":"a","params":1,"params":{}})",
           R"({"id":1,"result":{},"result":{}})",
           R"({"id":1,"result":{},"re\u0073ult":{}})",
           R"({"id":1,"error":{},"error":{}})",
           R"({"id":1,"error":{},"\u0065rror":null})",
           R"({"id":1,"id":1,"result":{}})",
           R"({"id":1,"\u0069\u0064":1,"error":{}})",
       }) {
    CAPTURE(text);
    CHECK(fault_of(text) == -32600);
  }
}

TEST_CASE("a member that says what is asked, and stands twice, is noted") {
  const auto is_ambiguous = [](std::string_view params) {
    return frame_of(R"({"id":1,"method":"a","params":)" + std::string(params) + "}")
        .has_ambiguous_params;
  };
  for (const char* params : {R"({"name":1,"name":1})", R"({"uri":"a","x":2,"ur\u0069":"b"})",
                             R"({"taskId":"a","taskId":"b"})", R"({"arguments":{},"arguments":{}})",
                             R"({"requestState":"a","requestState":"a"})",
                             R"({"inputResponses":{},"input\u0052esponses":{}})"}) {
    CAPTURE(params);
    CHECK(is_ambiguous(params));
  }
  for (const char* params :
       {R"({"name":1,"uri":1,"taskId":1,"arguments":1,"requestState":1,"inputResponses":1})",
        R"({"x":1,"x":1,"url":1,"uri":2,"arguments":{"name":1,"uri":1},"name":1})",
        R"([{"name":1,"name":1}])"}) {
    CAPTURE(params);
    CHECK_FALSE(is_ambiguous(params));
  }
}

TEST_CASE("_meta and the tokens must not stand twice where the bridge reads them") {
  for (
      const char* text : {
          R"({"id":1,"method":"a","params":{"_meta":{},"_meta":{}}})",
          R"({"id":1,"method":"a","params":{"_meta":{},"\u005fmeta":{"progressToken":1}}})",
          R"({"id":1,"method":"a","params":{"_meta":7,"_meta":{"progressToken":1}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"progressToken":1,"progressToken":2}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"progressToken":1,"progress\u0054oken":2}}})",
          R"({"method":"notifications/progress","params":{"progressToken":1,"progressToken":2}})",
          R"({"method":"notifications/progress","params":{"progressToken":1,"\u0070rogressToken":1}})",
          R"({"method":"notifications/cancelled","params":{"requestId":1,"requestId":2}})",
          R"({"method":"notifications/cancelled","params":{"requestId":1,"\u0072equestId":2}})",
          R"({"method":"notifications/c\u0061ncelled","params":{"requestId":1,"requestId":true}})",
      }) {
    CAPTURE(text);
    CHECK(fault_of(text) == -32600);
  }
}

TEST_CASE("duplicates anywhere else are the receiver's affair and pass unchanged") {
  for (
      const char* text : {
          R"({"id":1,"method":"tools/call","params":{"name":"x","name":"y","arguments":{"a":1,"a":2,"id":1,"id":2}}})",
          R"({"id":1,"method":"a","params":{"arguments":{"_meta":{},"_meta":{},"progressToken":1,"progressToken":2}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"k":1,"k":2}}})",
          R"({"id":1,"method":"a","params":{"requestId":1,"requestId":2}})",
          R"({"id":1,"method":"a","params":{"progressToken":1,"progressToken":2}})",
          R"({"id":1,"method":"a","params":[{"_meta":1,"_meta":2}]})",
          R"({"id":1,"result":{"a":1,"a":2,"_meta":{},"_meta":{}}})",
          R"({"id":1,"error":{"code":1,"code":2}})",
          R"({"id":1,"method":"a","jsonrpc":"2.0","jsonrpc":"2.0","x":1,"x":2})",
      }) {
    CAPTURE(text);
    CHECK(frame_of(text).bytes == text);
  }
}

TEST_CASE("a name that only looks like one of these is another name") {
  const Frame frame = frame_of(R"({"id":1,"ID":2,"Id":3,"id ":4,"\\u0069d":5,"method":"a"})");
  CHECK(frame.text(frame.id) == "1");
}
