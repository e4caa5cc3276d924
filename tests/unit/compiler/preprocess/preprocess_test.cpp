#include "compiler/preprocess/preprocess.hpp"

#include <doctest/doctest.h>

#include <string>

namespace raddle {

namespace {

struct Preprocessed {
  explicit Preprocessed(const std::string& script, PreprocessOptions options = {}) {
    expanded = preprocess(sources.add("t.df", script), sources, options, diagnostics);
  }
  /// What is written for the first `part` of the expanded text: `file:line:col text`.
  std::string written(const std::string& part) const {
    const auto begin = static_cast<std::uint32_t>(expanded->text().find(part));
    const Span span = expanded->span(begin, begin + static_cast<std::uint32_t>(part.size()));
    return sources.describe(span) + " " + sources.at(span.file).text().substr(span.begin, span.end - span.begin);
  }
  SourceMap sources;
  Diagnostics diagnostics;
  std::optional<ExpandedText> expanded;
};

std::string text_of(const std::string& script) {
  const Preprocessed done(script);
  CHECK_FALSE(done.diagnostics.has_errors());
  return done.expanded ? done.expanded->text() : "unchanged";
}

}  // namespace

TEST_CASE("a script without directives is left alone") {
  CHECK(text_of("int x = 3; # comment\n# another\n") == "unchanged");
  CHECK(text_of("#!/usr/bin/env raddle\nx = 1;\n") == "unchanged");
}

TEST_CASE("directives leave nothing but their line's end") {
  CHECK(text_of("#define A 1\nx = A;\n") == "\nx = 1;\n");
  CHECK(text_of("#if 0\nno\n#else\nyes\n#endif\nz\n") == "\nyes\n\nz\n");
  CHECK(text_of("#undef A") == "\n");
}

TEST_CASE("positions are those of the text as written") {
  const Preprocessed done("#define TWO 1 + 1\n#define F(x) (x) * TWO\nint y = TWO + F(foo) + bar;\n");
  CHECK(done.written("1 + 1") == "t.df:3:9 TWO");
  CHECK(done.written("+ 1 +") == "t.df:3:9 TWO +");
  CHECK(done.written("(foo)") == "t.df:3:15 F(foo)");
  CHECK(done.written("foo") == "t.df:3:17 foo");
  CHECK(done.written("bar") == "t.df:3:24 bar");
  CHECK(done.written("int y") == "t.df:3:1 int y");
  const auto end = static_cast<std::uint32_t>(done.expanded->text().size());
  CHECK(done.sources.describe(done.expanded->span(end, end)) == "t.df:4:1");
}

TEST_CASE("texts do not melt into one token") {
  CHECK(text_of("#define M -\n-M-\n") == "\n- - -\n");
  CHECK(text_of("#define S \"a\"\nS\"b\"\n") == "\n\"a\" \"b\"\n");
  CHECK(text_of("#define B b\nB[0]B(1)\n") == "\nb[0]b(1)\n");
}

TEST_CASE("replacement follows the rules of C") {
  CHECK(text_of("#define f(x) g(x)\n#define g(x) f(x)+x\nf(1) f g\n") == "\n\nf(1)+1 f g\n");
  CHECK(text_of("#define f(x) x\n#define h f\nh(h)(1)\n") == "\n\nf(1)\n");
  CHECK(text_of("#define cat(a,b) a##b\n#define x 1\ncat(x,x) cat(,x)cat(x,)\n") == "\n\nxx 1 1\n");
  CHECK(text_of("#define str(a) #a\nstr( a  \"b\\n\" )\n") == "\n\"a \\\"b\\\\n\\\"\"\n");
}

TEST_CASE("options of -D come first") {
  const Preprocessed done("x = N + F(2);\n", {.macros = {"N", "F(x)=x*2"}, .include_folders = {}});
  CHECK(done.expanded->text().ends_with("x = 1 + 2*2;\n"));
  CHECK(fault_of_macro_option("N=3").empty());
  CHECK(fault_of_macro_option("F(a,b)=a") == "");
  CHECK(fault_of_macro_option("3=4") != "");
  CHECK(fault_of_macro_option("=4") != "");
}

}  // namespace raddle
