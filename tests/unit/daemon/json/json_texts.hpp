#pragma once

#include "../../words.hpp"

namespace bridge {

using std::string_literals::operator""s;

/// Texts for everything that reads JSON (RFC 8259).
inline const std::vector<std::string> good_json = words(
    R"(
    0 -0 -1 1.5 0.10 1e400 1E+5 1e-5 -0.0e0 10 123456789012345678901234567890 true false null ""
    "\"\\\/\b\f\n\r\t" "\u00e9\uD83D\uDE00" "\ud800" [] {} [1,2] [[],{}] {"a":1}
    {"a":{"b":[{}]},"c":[]} {"a":1,"a":2} {"":0} [{"a":[{"b":[[{"c":1}]]},2]},3]
    {"a":[1,-2.5e+3,true,false,null,"x"],"b":{"c":{}}} ["\\","\\\\","\\\"",""]
    [0,-0,0.0,1E5,10e-2,123456789012345678901234567890] [0,-1,10,1.5,-20.75,0.001,true,false,null]
    [{},[],{"a":{}},{"a":[]},[[{}]],"",{"a":"","b":[1]}])",
    {" null\t\r\n", "\"\x7f\"", "\"\xC3\xA9\"", "[ ]", "{ }", " [ 1 , { \"a\" : [ null ] } ] ",
     " \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n", " [ ] ",
     "{\n\t\"a\" : [ 1 , 2 ] ,\r \"b\" : \"\\\\\\\"\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\" }",
     "[\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"]"});

inline const std::vector<std::string> bad_json = words(
    R"(
    "\x41" t 00 01 -01 1. .5 +1 - 1e 1e+ 1.e5 0x10 1_0 --1 -.5 1.5.2 1e5.5 NaN Infinity -Infinity
    tru True nul nulll falsey TRUE undefined " "a "\u12g4" "\u123" "\u12 "\ "\" "\'" 'a' [1,2}
    {"a":1] [1,] [,1] [1,,2] {,} {a:1} [ [1 } {"a" {"a": {}x [[] {"a":[1}
    [{"a":[{"b":[[{"c":1]}]]},2]},3] [{"a":[1],2}] [[1],"a":2] { ] [} {] {"a"} {"a":} {"a":1,}
    {1:2} []] [1.5.5] [1-5] [--1] [1..5] [1.e5] [true1] [tru,e] [fals] [falsf] [-true] [1true]
    [1;2] [{]} [[}] {"a":{}] {"a":[}} {"a","b":1} {"a":1,"b"} {"a":"b":1} {"a"::1} {:1} {"a":1,[]}
    {[]:1} ["a":1] [{"a":1},"b":2] [:] [,] [][] {}{} {}1 {}, 1[] "a"[] ,[] [truefalse] ["a"1]
    [1"a"] ["\u123\u1234"] ["\u00e9\uD83x"] [\"a"] ["a\"])",
    {"1 2", "", "{} {}", "[] x", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[1,\f2]", "[1,\v2]", "[1]\0"s,
     "\"a\nb\"", "\"\x1f\"", "\"\x01\"", "\"a\0b\""s, "\"\\\0\""s, "[\xc3\xa9]", "\xC2\xA0[1]",
     "\xEF\xBB\xBF[1]"});

/// Good, but for their bytes.
inline const std::vector<std::string> json_of_no_utf8 = {"[\"\xc3\"]", "[\"\xed\xa0\x80\"]",
                                                         "[\"\xf4\x90\x80\x80\"]", "[\"\xff\"]"};

}  // namespace bridge
