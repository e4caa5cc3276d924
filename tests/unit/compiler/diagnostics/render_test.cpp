#include <doctest/doctest.h>

#include <string>

#include "compiler/diagnostics/diagnostics.hpp"

namespace raddle {

namespace {

/// A file and the places of words in it.
struct Script {
  explicit Script(std::string text) : file(sources.add("sum.df", std::move(text))) {}
  Span word(const std::string& word, std::size_t from = 0) const {
    const auto begin = static_cast<std::uint32_t>(sources.at(file).text().find(word, from));
    return {file, begin, begin + static_cast<std::uint32_t>(word.size())};
  }
  std::string text(const Diagnostic& diagnostic, bool colour = false) const {
    return render(diagnostic, sources, colour);
  }

  SourceMap sources;
  Diagnostics diagnostics;
  std::uint32_t file;
};

}  // namespace

TEST_CASE("position, line, carets, labels and help") {
  Script script("int a = 1;\nint b = 2;\ntotal = a + b;\ntotal = 0;\n");
  const Span first = script.word("total");
  const Diagnostic& diagnostic =
      script.diagnostics.report(DiagnosticKind::syntax_error, script.word("total", first.end), "`total` is there twice")
          .label(first, "first assignment")
          .note("rename one, or make it an array and assign elements");
  CHECK(script.text(diagnostic) ==
        "sum.df:4:1: error: `total` is there twice [syntax_error]\n"
        "  3 | total = a + b;\n"
        "    | ----- first assignment\n"
        "  4 | total = 0;\n"
        "    | ^^^^^\n"
        "  = help: rename one, or make it an array and assign elements\n");
}

TEST_CASE("a label on the same line has its own row, a label in another file its own position") {
  Script script("x = (1 + 2;\n");
  const std::uint32_t other = script.sources.add("lib.df", "\n\nint x;\n");
  const Diagnostic& diagnostic =
      script.diagnostics.report(DiagnosticKind::syntax_error, Span{script.file, 10, 10}, "expected `)`")
          .label(script.word("("), "to match this")
          .label({other, 6, 7}, "declared here");
  CHECK(script.text(diagnostic) ==
        "sum.df:1:11: error: expected `)` [syntax_error]\n"
        "  1 | x = (1 + 2;\n"
        "    |           ^\n"
        "    |     - to match this\n"
        "  --> lib.df:3:5\n"
        "  3 | int x;\n"
        "    |     - declared here\n");
}

TEST_CASE("carets stand below their characters: tabs, multi-byte characters, several lines") {
  Script script("\ts = \"é\" + bad;\nlong(1,\n  2);\n");
  CHECK(script.text(script.diagnostics.report(DiagnosticKind::syntax_error, script.word("bad"), "m")) ==
        "sum.df:1:12: error: m [syntax_error]\n  1 | \ts = \"é\" + bad;\n    | \t          ^^^\n");
  CHECK(script.text(script.diagnostics.report(DiagnosticKind::syntax_error, script.word("(1,\n  2)"), "m")) ==
        "sum.df:2:5: error: m [syntax_error]\n  2 | long(1,\n    |     ^^^\n");
}

TEST_CASE("line numbers set the width of the gutter") {
  Script script(std::string(98, '\n') + "x = y;\nx = z;\n");
  const Diagnostic& diagnostic = script.diagnostics.report(DiagnosticKind::syntax_error, script.word("z"), "m")
                                     .label(script.word("y"), "here")
                                     .note("h");
  CHECK(script.text(diagnostic) ==
        "sum.df:100:5: error: m [syntax_error]\n"
        "   99 | x = y;\n"
        "      |     - here\n"
        "  100 | x = z;\n"
        "      |     ^\n"
        "    = help: h\n");
}

TEST_CASE("very long lines are cut, control characters replaced") {
  Script script(std::string(100'000, 'a') + "!\x1B" + std::string(100'000, 'b'));
  const std::string text = script.text(script.diagnostics.report(DiagnosticKind::syntax_error, script.word("!"), "m"));
  CHECK(text.size() < 1000);
  CHECK(text.find("a!?b") != std::string::npos);
}

TEST_CASE("the end of the file can be marked") {
  Script script("x = 1;\n");
  CHECK(script.text(script.diagnostics.report(DiagnosticKind::syntax_error, Span{script.file, 7, 7}, "m")) ==
        "sum.df:2:1: error: m [syntax_error]\n  2 |\n    | ^\n");
}

TEST_CASE("colours only when asked for") {
  Script script("x\n");
  const Diagnostic& diagnostic = script.diagnostics.report(DiagnosticKind::syntax_error, script.word("x"), "m");
  CHECK(script.text(diagnostic).find('\x1B') == std::string::npos);
  CHECK(script.text(diagnostic, true).find("\x1B[1;31merror:\x1B[0m") != std::string::npos);
}

TEST_CASE("the same finding is kept once, and order_by_position sorts the rest") {
  Script script("x y z\n");
  script.diagnostics.report(DiagnosticKind::syntax_error, script.word("z"), "third");
  script.diagnostics.report(DiagnosticKind::syntax_error, script.word("x"), "first");
  script.diagnostics.report(DiagnosticKind::syntax_error, script.word("x"), "again").note("dropped with it");
  CHECK(script.diagnostics.error_count() == 2);
  script.diagnostics.order_by_position(0);
  CHECK(script.diagnostics.all().at(0).message == "first");
  CHECK(script.diagnostics.all().at(0).help.empty());
}

TEST_CASE("nearest_name finds what was meant") {
  const std::vector<std::string> names = {"printf", "sprintf", "trace", "strlen", "x"};
  CHECK(nearest_name("pritnf", names) == "printf");
  CHECK(nearest_name("Trace", names) == "trace");
  CHECK(nearest_name("strlne", names) == "strlen");
  CHECK(nearest_name("y", names) == "");
  CHECK(nearest_name("completely", names) == "");
}

}  // namespace raddle
