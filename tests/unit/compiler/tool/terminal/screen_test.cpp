#include "compiler/tool/terminal/screen.hpp"

#include <doctest/doctest.h>

using namespace raddle::terminal;

namespace {

/// Without what hides and shows the cursor.
std::string drawn(Screen& screen, const View& view) {
  const std::string all = screen.draw(view);
  REQUIRE(all.starts_with("\x1b[?25l"));
  REQUIRE(all.ends_with("\x1b[?25h"));
  return all.substr(6, all.size() - 12);
}

View view_of(std::string_view text, std::size_t cursor) {
  View view;
  view.prompt = "> ";
  view.continuation = ". ";
  view.text = text;
  view.cursor = cursor;
  return view;
}

}  // namespace

TEST_CASE("one line: the cursor is put where it belongs") {
  Screen screen;
  CHECK(drawn(screen, view_of("abc", 1)) == "\r\x1b[J> abc\r\x1b[3C");
}

TEST_CASE("lines begin with the continuation, and are erased from the first one on") {
  Screen screen;
  CHECK(drawn(screen, view_of("a\nb", 3)) == "\r\x1b[J> a\r\n. b\r\x1b[3C");
  CHECK(drawn(screen, view_of("", 0)) == "\r\x1b[1A\x1b[J> \r\x1b[2C");
}

TEST_CASE("long lines go on in the next row; the cursor never stands behind the last column") {
  Screen screen;
  screen.resize({4, 10});
  CHECK(drawn(screen, view_of("abcd", 4)) == "\r\x1b[J> ab\r\ncd\r\x1b[2C");
  CHECK(drawn(screen, view_of("ab", 2)) == "\r\x1b[1A\x1b[J> ab\r\n\r");
  CHECK(drawn(screen, view_of("a\xE4\xB8\xAD", 0)) == "\r\x1b[1A\x1b[J> a\r\n\xE4\xB8\xAD\x1b[1A\r\x1b[2C");
}

TEST_CASE("styles end with their rows and begin anew") {
  Screen screen;
  screen.resize({4, 10});
  View view = view_of("abcd", 0);
  view.styles = {{1, 4, "32"}};
  CHECK(drawn(screen, view) == "\r\x1b[J> a\x1b[32mb\x1b[m\r\n\x1b[32mcd\x1b[m\x1b[1A\r\x1b[2C");
}

TEST_CASE("of more rows than there are, those around the cursor are drawn") {
  Screen screen;
  screen.resize({10, 2});
  CHECK(drawn(screen, view_of("1\n2\n3\n4", 5)) == "\r\x1b[J. 2\r\n. 3\r\x1b[3C");
}

TEST_CASE("what is below is shown in columns, and gone at the end") {
  Screen screen;
  screen.resize({10, 5});
  View view = view_of("x", 1);
  view.below = {"one", "two", "three"};
  CHECK(drawn(screen, view) == "\r\x1b[J> x\r\none\r\ntwo\r\nthree\x1b[3A\r\x1b[3C");
  const std::string end = screen.finish(view);
  CHECK(end.ends_with("\r\n"));
  CHECK(end.find("one") == std::string::npos);
}
