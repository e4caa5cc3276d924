#include "compiler/format/format.hpp"

#include <doctest/doctest.h>

#include <string>

namespace raddle::format {

namespace {

std::string formatted(std::string_view text) {
  const auto result = format_script(text);
  REQUIRE(result.has_value());
  CHECK(format_script(*result) == *result);
  return *result;
}

}  // namespace

TEST_CASE("blanks go where the table of operators and the kinds of brackets want them") {
  CHECK(formatted("int x=1+ 2*-y;") == "int x = 1 + 2 * -y;\n");
  CHECK(formatted("trace ( a [ 0 ] . b , !c );") == "trace(a[0].b, !c);\n");
  CHECK(formatted("x = f(a,key = 3);") == "x = f(a, key=3);\n");
  CHECK(formatted("(int o)f(int a,int b=2){o=a- -b;}") == "(int o) f(int a, int b = 2) { o = a - -b; }\n");
  CHECK(formatted("m={\"a\" :1};") == "m = {\"a\": 1};\n");
  CHECK(formatted("bag < int > b;u<incr>:=1.0;file f<\"n\"+i> =g();z=a<b;") ==
        "bag<int> b; u <incr> := 1.0; file f <\"n\" + i> = g(); z = a < b;\n");
  CHECK(formatted("<T>(T o)f(int ...a,int | float b){o=a;}") == "<T> (T o) f(int... a, int|float b) { o = a; }\n");
}

TEST_CASE("the colon of a range stands off if a part is more than a name or number") {
  CHECK(formatted("x = A[ 0 : n ];") == "x = A[0:n];\n");
  CHECK(formatted("x = A[0:n-1, ::2];") == "x = A[0 : n - 1, ::2];\n");
  CHECK(formatted("x = A[n-1:];") == "x = A[n - 1 :];\n");
}

TEST_CASE("blanks that mean something stay") {
  CHECK(formatted("@dispatch=WORKER (int o) f(int i);") == "@dispatch=WORKER (int o) f(int i);\n");
  CHECK(formatted("x = @location=where( i ) f(1);") == "x = @location=where(i) f(1);\n");
  CHECK(formatted("app (file o) f(string a[]) { \"p\"   a[0] a [0]  @stdout = o }") ==
        "app (file o) f(string a[]) { \"p\" a[0] a [0] @stdout=o }\n");
}

TEST_CASE("a block stays on the line if the author put it there, it fits, and holds no other block") {
  CHECK(formatted("if(a){b=1;}\nelse{b=2;}") == "if (a) { b = 1; } else { b = 2; }\n");
  CHECK(formatted("if(a){b=1;}else{\nb=2;}") == "if (a) {\n  b = 1;\n} else {\n  b = 2;\n}\n");
  CHECK(formatted("foreach i in A{if(a){b=1;}}") == "foreach i in A {\n  if (a) { b = 1; }\n}\n");
  CHECK(formatted("main\n{\n}") == "main {}\n");
}

TEST_CASE("labels stand a step in, their statements beside or below them") {
  CHECK(formatted("switch(x){case 1:a=1;\ncase 2:\na=2;default:a=3;\nb=3;}") ==
        "switch (x) {\n  case 1: a = 1;\n  case 2:\n    a = 2;\n  default:\n    a = 3;\n    b = 3;\n}\n");
}

TEST_CASE("links of a chain stand a step in, with their blocks") {
  CHECK(formatted("a() =>\nb() =>\nforeach i in A {\nf(i);\n}") ==
        "a() =>\n  b() =>\n  foreach i in A {\n    f(i);\n  }\n");
}

TEST_CASE("lines that are too long are broken outside first, then filled") {
  const std::string words = "aaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbb, cccccccccccccccccccc";
  CHECK(formatted("trace(" + words + ", f(dddddddddddddddd, eeeeeeeeeeeeeeeeeeeee));") ==
        "trace(" + words + ",\n      f(dddddddddddddddd, eeeeeeeeeeeeeeeeeeeee));\n");
  const std::string link = "some_rather_long_name(aaaaaaaaaaaaaaaaa, bbbbbbbbbb)";
  CHECK(formatted(link + " => " + link + ";") == link + " =>\n  " + link + ";\n");
}

TEST_CASE("the author's breaks between entries stay, those in expressions go where the line has room") {
  CHECK(formatted("m = [[1, 0],\n  [0, 1]];") == "m = [[1, 0],\n     [0, 1]];\n");
  CHECK(formatted("x =\n  a +\n  b;") == "x = a + b;\n");
  CHECK(formatted("f(\na,\nb\n);") == "f(\n  a,\n  b\n);\n");
  CHECK(formatted("f(\na,\nb);") == "f(\n    a,\n    b);\n");
}

TEST_CASE("comments stay where they are, those at the ends of neighbouring lines below each other") {
  CHECK(formatted("int x; // one\nint yy; // two\n        // more\n") ==
        "int x;   // one\nint yy;  // two\n         // more\n");
  CHECK(formatted("f(a, // first\n// own line\nb);") == "f(a,  // first\n  // own line\n  b);\n");
  CHECK(formatted("/* a */ x = /* b */ 1;") == "/* a */ x = /* b */ 1;\n");
  CHECK(formatted("main {\nx = 1;\n/* a\n   b */\n}") == "main {\n  x = 1;\n  /* a\n     b */\n}\n");
}

TEST_CASE("one blank line stays, none at the ends of blocks") {
  CHECK(formatted("\n\na = 1;\n\n\n\nb = 2;\nmain {\n\nc = 3;\n\n}\n\n") == "a = 1;\n\nb = 2;\nmain {\n  c = 3;\n}\n");
}

TEST_CASE("lines of the preprocessor, comments with `#`, and strings are left as they are") {
  const std::string_view text = "#define A(x) \\\n   x+1\n  # note  this\nx = \"\"\"\n a\n\"\"\";\n";
  CHECK(formatted(text) == text);
}

TEST_CASE("what only the preprocessor makes sense of is refused") {
  const auto brackets = format_script("#if A\nmain {\n#else\nif (b) {\n#endif\n}\n");
  REQUIRE(!brackets.has_value());
  CHECK(brackets.error().message.find("brackets") != std::string::npos);
  CHECK(!format_script("#if 0\nit is \"open\n#endif\ntrace(\"a\");\n").has_value());
}

}  // namespace raddle::format
