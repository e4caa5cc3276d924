#include "compiler/tool/terminal/text_width.hpp"

#include <doctest/doctest.h>

using namespace raddle::terminal;

TEST_CASE("columns of characters") {
  CHECK(text_width("abc") == 3);
  CHECK(text_width("\xC3\xA4") == 1);
  CHECK(text_width("\xE4\xB8\xAD") == 2);      // Chinese
  CHECK(text_width("\xF0\x9F\x98\x80") == 2);  // an emoji
  CHECK(text_width("e\xCC\x81") == 1);         // an accent over it
  CHECK(text_width("\xE2\xA0\x80") == 1);      // Braille
}

TEST_CASE("bytes that are no UTF-8 are one character each") {
  CHECK(text_width("\xFF\xC3") == 2);
  CHECK(next_character("\xE4\xB8", 0) == 1);
}

TEST_CASE("characters keep what is drawn over them") {
  const std::string_view text = "xe\xCC\x81y";
  CHECK(next_character(text, 1) == 4);
  CHECK(previous_character(text, 4) == 1);
  CHECK(previous_character(text, 0) == 0);
  CHECK(next_character(text, text.size()) == text.size());
}
