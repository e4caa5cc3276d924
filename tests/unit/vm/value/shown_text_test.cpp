#include "vm/value/shown_text.hpp"

#include <doctest/doctest.h>

using raddle::vm::shown_text;
using raddle::vm::valid_text;

TEST_CASE("what is no UTF-8 is replaced, byte by byte") {
  CHECK(valid_text("caf\xC3\xA9 \xF0\x9F\x98\x80\n") == "caf\xC3\xA9 \xF0\x9F\x98\x80\n");
  CHECK(valid_text("caf\xE9!") == "caf\xEF\xBF\xBD!");
  CHECK(valid_text("\xC0\xAF") == "\xEF\xBF\xBD\xEF\xBF\xBD");                  // a long form of `/`
  CHECK(valid_text("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  CHECK(valid_text("\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(valid_text("\x1b[31mred") == "\x1b[31mred");
}

TEST_CASE("a terminal does not obey what others have written") {
  CHECK(shown_text("a\tb\n") == "a\tb\n");
  CHECK(shown_text("\x1b[1;31mred\x1b[0m \x1b[2J\x07") == "red \\x1b[2J\\x07");
  CHECK(shown_text("\x1b]0;title\x07") == "\\x1b]0;title\\x07");
  CHECK(shown_text("\xC2\x9B"
                   "2J") == "\\x9b2J");  // CSI in one character
  CHECK(shown_text("10%\r20%\r\n") == "10%\\x0d20%\n");
  CHECK(shown_text("\x1b[31") == "\\x1b[31");
  CHECK(shown_text("caf\xE9\x7F") == "caf\xEF\xBF\xBD\\x7f");
}
