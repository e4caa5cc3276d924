#include "stdlib/native/format.hpp"

#include <limits>

#include "tests/unit/stdlib/call.hpp"

using raddle::test::real;
using raddle::test::text;
using raddle::test::Value;
using raddle::test::whole;

namespace {

std::string format(std::string_view text, std::vector<Value> values = {}) {
  const auto made = raddle::stdlib::format_text(text, values);
  return made ? *made : "error: " + made.error();
}

}  // namespace

TEST_CASE("format: ints") {
  CHECK(format("%d|%i|%5d|%-5d|%05d|%+d|% d", {whole(1), whole(-2), whole(3), whole(4), whole(5), whole(6),
                                               whole(7)}) == "1|-2|    3|4    |00005|+6| 7");
  CHECK(format("%x %X %#x %o %#o %u", {whole(255), whole(255), whole(255), whole(8), whole(8), whole(-1)}) ==
        "ff FF 0xff 10 010 18446744073709551615");
  CHECK(format("%b %#b %8.4b|", {whole(5), whole(5), whole(5)}) == "101 0b101     0101|");
  CHECK(format("%.3d %ld %lld", {whole(5), whole(4294967296), whole(-1)}) == "005 4294967296 -1");
  CHECK(format("%d", {whole(std::numeric_limits<std::int64_t>::min())}) == "-9223372036854775808");
  CHECK(format("%i %i %i", {Value::of(true), text("12"), text(" 0x1F ")}) == "1 12 31");
}

TEST_CASE("format: floats") {
  CHECK(format("%f %.2f %8.3f|%-8.1f|%08.2f", {real(1.5), real(2.345), real(3.14159), real(2), real(-1.5)}) ==
        "1.500000 2.35    3.142|2.0     |-0001.50");
  CHECK(format("%e %E %g %G", {real(12345.678), real(0.5), real(1e6), real(1e20)}) ==
        "1.234568e+04 5.000000E-01 1e+06 1E+20");
  CHECK(format("%5.1f %f", {whole(3), text("2.5")}) == "  3.0 2.500000");
  CHECK(format("%8.2f|%f", {real(std::numeric_limits<double>::infinity()),
                            real(-std::numeric_limits<double>::infinity())}) == "     Inf|-Inf");
}

TEST_CASE("format: strings and characters") {
  CHECK(format("%s %5s|%-5s|%05s %.2s", {text("a"), text("héé"), text("b"), text("ab"), text("héllo")}) ==
        "a   héé|b    |000ab hé");
  CHECK(format("%s %s %s %s", {real(2.5), real(3), whole(4), Value::of(true)}) == "2.5 3.0 4 1");
  CHECK(format("%c%c%3c", {whole(65), whole(233), whole(0x20ac)}) == "Aé  €");
  CHECK(format("100%% %s", {text("x")}) == "100% x");
  CHECK(format("no values") == "no values");
  CHECK(format("") == "");
  CHECK(format("%s", {text("a"), text("superfluous")}) == "a");
}

TEST_CASE("format: stars and positions") {
  CHECK(format("%*d|%-*d|%*d|%.*f", {whole(4), whole(1), whole(4), whole(2), whole(-4), whole(3), whole(2),
                                     real(1.0 / 3)}) == "   1|2   |3   |0.33");
  CHECK(format("%2$s %1$s", {text("a"), text("b")}) == "b a");
  CHECK(format("%2$s %s", {text("a"), text("b")}) == "error: cannot mix \"%\" and \"%n$\" conversion specifiers");
  CHECK(format("%3$s", {text("a")}) == "error: \"%n$\" argument index out of range");
  CHECK(format("%0$s", {text("a")}) == "error: \"%n$\" argument index out of range");
}

TEST_CASE("format: errors") {
  CHECK(format("%i", {real(3.0)}) == "error: expected integer but got \"3.0\"");
  CHECK(format("%d", {text("abc")}) == "error: expected integer but got \"abc\"");
  CHECK(format("%f", {text("abc")}) == "error: expected floating-point number but got \"abc\"");
  CHECK(format("%d %d", {whole(1)}) == "error: not enough arguments for all format specifiers");
  CHECK(format("%y", {whole(1)}) == "error: bad field specifier \"y\"");
  CHECK(format("abc%") == "error: format string ended in middle of field specifier");
  CHECK(format("%99999999999999999999d", {whole(1)}).starts_with("error: a width or precision"));
}
