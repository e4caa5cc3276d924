#include "compiler/tool/terminal/keys.hpp"

#include <doctest/doctest.h>

using namespace raddle::terminal;

namespace {

std::vector<Key> keys_of(std::string_view bytes) { return KeyDecoder().feed(bytes); }

}  // namespace

TEST_CASE("characters, control keys, sequences") {
  CHECK(keys_of("a\xC3\xA4\x01") ==
        std::vector<Key>{{KeyKind::text, "a"}, {KeyKind::text, "\xC3\xA4"}, {KeyKind::control, "a"}});
  CHECK(keys_of("\r\t\x7F") == std::vector<Key>{{KeyKind::enter}, {KeyKind::tab}, {KeyKind::backspace}});
  CHECK(keys_of("\x1b[A\x1bOB\x1b[1;5C\x1b[3~") ==
        std::vector<Key>{{KeyKind::up}, {KeyKind::down}, {KeyKind::word_right}, {KeyKind::delete_}});
  CHECK(keys_of("\x1b\r\x1b"
                "b") == std::vector<Key>{{KeyKind::alt_enter}, {KeyKind::alt, "b"}});
}

TEST_CASE("what means nothing is dropped as a whole") { CHECK(keys_of("\x1b[99;7~x") == keys_of("x")); }

TEST_CASE("a key may come in parts") {
  KeyDecoder decoder;
  CHECK(decoder.feed("\xE2\x82").empty());
  CHECK(decoder.feed("\xAC") == std::vector<Key>{{KeyKind::text, "\xE2\x82\xAC"}});
  CHECK(decoder.feed("\x1b[").empty());
  CHECK(decoder.is_waiting());
  CHECK(decoder.feed("C") == std::vector<Key>{{KeyKind::right}});
  CHECK_FALSE(decoder.is_waiting());
}

TEST_CASE("Escape alone is a key when nothing follows") {
  KeyDecoder decoder;
  CHECK(decoder.feed("\x1b").empty());
  CHECK(decoder.flush() == std::vector<Key>{{KeyKind::escape}});
}

TEST_CASE("a paste whose end is lost ends with what is there when nothing more comes") {
  KeyDecoder decoder;
  CHECK(decoder.feed("\x1b[200~").empty());
  CHECK(decoder.is_waiting());
  CHECK(decoder.patience().count() == 1000);
  CHECK(decoder.feed("one\r").empty());
  CHECK(decoder.flush() == std::vector<Key>{{KeyKind::paste, "one\n"}});
  CHECK(!decoder.is_waiting());
  CHECK(decoder.feed("y\x1b[201~") == std::vector<Key>{{KeyKind::text, "y"}});
}

TEST_CASE("pasted text is one key, without control characters") {
  KeyDecoder decoder;
  CHECK(decoder.feed("\x1b[200~one\rtwo\x01").empty());
  CHECK(decoder.feed("\tx\x1b[201~y") == std::vector<Key>{{KeyKind::paste, "one\ntwo  x"}, {KeyKind::text, "y"}});
}
