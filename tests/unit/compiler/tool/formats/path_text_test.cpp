#include "compiler/tool/formats/path_text.hpp"

#include <doctest/doctest.h>

using namespace raddle::sweep;

TEST_CASE("a path that is no UTF-8 is kept in a text that is") {
  CHECK(path_text("caf\xC3\xA9/a b.txt") == "caf\xC3\xA9/a b.txt");
  CHECK(path_text("caf\xE9's\\.txt") == R"($'caf\xe9\x27s\x5c.txt')");
  CHECK(path_text("$'x'") == R"($'$\x27x\x27')");
  for (const char* path : {"a.txt", "caf\xE9", "\xFF\xFE\\x41", "$'x'", "$'", "it's", "a\nb\x80"})
    CHECK(path_of_text(path_text(path)) == path);
}
