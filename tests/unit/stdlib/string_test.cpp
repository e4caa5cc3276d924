#include "tests/unit/stdlib/call.hpp"

using raddle::test::call;
using raddle::test::call_overload;
using raddle::test::error;
using raddle::test::list;
using raddle::test::real;
using raddle::test::result;
using raddle::test::shown;
using raddle::test::text;
using raddle::test::Value;
using raddle::test::whole;

TEST_CASE("lengths and positions count characters") {
  CHECK(result("strlen", {text("héllo")}) == "5");
  CHECK(result("length", {text("")}) == "0");
  CHECK(result("strlen", {text("\xff\xc3")}) == "2");
  CHECK(result("substring", {text("héllo"), whole(1), whole(3)}) == "éll");
  CHECK(result("substring", {text("abc"), whole(2), whole(9)}) == "c");
  CHECK(result("substring", {text("abc"), whole(5), whole(1)}) == "");
  CHECK(result("find", {text("aébab"), text("b"), whole(0), whole(-1)}) == "2");
  CHECK(result("find", {text("aébab"), text("b"), whole(3), whole(-1)}) == "4");
  CHECK(result("find", {text("abcd"), text("cd"), whole(0), whole(3)}) == "-1");
  CHECK(result("find", {text("abcd"), text("cd"), whole(0), whole(4)}) == "2");
  CHECK(result("find", {text("abc"), text(""), whole(0), whole(-1)}) == "-1");
  CHECK(result("find", {text("abc"), text("a"), whole(10), whole(-1)}) == "-1");
  CHECK(result("string_count", {text("aaaa"), text("aa"), whole(0), whole(-1)}) == "2");
  CHECK(result("string_count", {text("aaaa"), text(""), whole(0), whole(-1)}) == "0");
}

TEST_CASE("replace") {
  CHECK(result("replace", {text("abab"), text("ab"), text("x"), whole(1)}) == "abx");
  CHECK(result("replace", {text("abab"), text("q"), text("x"), whole(0)}) == "abab");
  CHECK(result("replace_all", {text("ababab"), text("ab"), text("x"), whole(1)}) == "abxx");
  CHECK(result("replaceAll", {text("aaa"), text("a"), text("aa")}) == "aaaaaa");
  CHECK(shown(call_overload(1, "replaceAll", {text("aaaa"), text("a"), text("b"), whole(1), whole(3)}).results[0]) ==
        "abba");
  CHECK(result("replaceAll", {text("abc"), text(""), text("x")}) == "abc");
}

TEST_CASE("split and join") {
  CHECK(result("split", {text("a  b"), text(" ")}) == "[a|''|b]");
  CHECK(result("split", {text("a,b;c,"), text(",;")}) == "[a|b|c|'']");
  CHECK(result("split", {text(""), text(",")}) == "[]");
  CHECK(result("split", {text("hé!"), text("")}) == "[h|é|!]");
  CHECK(result("join", {list({text("a"), text("b"), text("c")}), text("-")}) == "a-b-c");
  CHECK(result("join", {list({}), text("-")}) == "");
  CHECK(result("join_args", {text("/"), text("a"), whole(1), real(2)}) == "a/1/2.0");
  CHECK(result("string_from_floats", {list({real(1), real(2.5)})}) == "1.0,2.5");
  CHECK(result("strcat", {text("a"), whole(1), real(0.5)}) == "a10.5");
  CHECK(result("dircat", {text("a"), text("b"), text("c")}) == "a/b/c");
}

TEST_CASE("trim, case, hash") {
  CHECK(result("trim", {text(" \t\nab c\v\f")}) == "ab c");
  CHECK(result("trim", {text("  ")}) == "");
  CHECK(result("toUpper", {text("héß1")}) == "HÉß1");
  CHECK(result("toLower", {text("HÉ\xff")}) == "hé\xff");
  CHECK(result("hash", {text("abc")}) == "238646833");
  CHECK(result("hash", {text("")}) == "1588444912");                               // 0xdeadbeef % INT_MAX
  CHECK(result("hash", {text("Four score and seven years ago")}) == "393676113");  // 0x17770551, as in lookup3.c
}

TEST_CASE("numbers in strings") {
  CHECK(result("isint", {text("0x1F")}) == "1");
  CHECK(result("isint", {text(" 12")}) == "1");
  CHECK(result("isint", {text("")}) == "0");
  CHECK(result("isint", {text("12.5")}) == "0");
  CHECK(result("toint", {text(" 012 ")}) == "12");
  CHECK(result("toint", {text("-9223372036854775808")}) == "-9223372036854775808");
  CHECK(error("toint", {text("1.5")}) == "toint: Invalid trailing characters in '1.5'");
  CHECK(error("toint", {text("abc")}) == "toint: Integer parse: 'abc' cannot be interpreted as a base 10 integer");
  CHECK(error("toint", {text("9223372036854775808")}) ==
        "toint: Integer parse: '9223372036854775808' does not fit into 64 bits");
  CHECK(result("string2int", {text("ff"), whole(16)}) == "255");
  CHECK(result("string2int", {text("0xff"), whole(16)}) == "255");
  CHECK(result("string2int", {text("-0b1"), whole(16)}) == "-177");
  CHECK(error("string2int", {text("0x10"), whole(10)}) == "string2int: Invalid trailing characters in '0x10'");
  CHECK(error("string2int", {text("1"), whole(1)}) == "string2int: base 1 is not between 2 and 36");
  CHECK(result("string2float", {text(" +1.5e3 ")}) == "1500.0");
  CHECK(result("string2float", {text("3")}) == "3.0");
  CHECK(result("string2float", {text("-inf")}) == "-Inf");
  CHECK(result("string2float", {text("1e-999")}) == "0.0");
  CHECK(error("string2float", {text(" -1e999")}) ==
        "string2float(): ' -1e999' is beyond what a float can be, -1.8e308 to 1.8e308");
  CHECK(error("tofloat", {text("1e400")}) == "tofloat(): '1e400' is beyond what a float can be, -1.8e308 to 1.8e308");
  CHECK(result("tofloat", {text("-1e-400")}) == "-0.0");
  CHECK(result("tofloat", {text(("0." + std::string(400, '0') + "1").c_str())}) == "0.0");
  CHECK(result("tofloat", {text(("1" + std::string(400, '0') + "e-100").c_str())}) == "1e+300");
  CHECK(error("tofloat", {text(("1" + std::string(400, '0') + "e-5").c_str())}) != "");
  CHECK(error("tofloat", {text(("1" + std::string(400, '0')).c_str())}) != "");
  CHECK(error("tofloat", {text("+-1")}) != "");
  CHECK(error("tofloat", {text("1e")}) != "");
  CHECK(error("string2float", {text("abc")}) == "string2float(): could not convert string 'abc' to float");
  CHECK(result("string2boolean", {text("YES")}) == "1");
  CHECK(result("string2boolean", {text("off")}) == "0");
  CHECK(result("string2boolean", {text("2")}) == "1");
  CHECK(error("string2boolean", {text("maybe")}) != "");
  CHECK(result("toString", {whole(3)}) == "3");
  CHECK(shown(call_overload(2, "toString", {Value::of(true)}).results[0]) == "1");
}

TEST_CASE("pick_regexp: Tcl's abbreviations, keys kept") {
  const Value words = list({text("a1"), text("b"), text("c22 x")});
  CHECK(result("pick_regexp", {text("\\d+"), words}) == "[a1|c22 x]");
  CHECK(result("pick_regexp", {text("^(?:b|c)"), words}) == "[b|c22 x]");
  CHECK(result("pick_regexp", {text("[\\d]+?\\s"), words}) == "[c22 x]");
  CHECK(call("pick_regexp", {text("c"), words}).as_array().contains(whole(2)));
  CHECK(error("pick_regexp", {text("("), words}).starts_with("bad regular expression `(`: "));
}
