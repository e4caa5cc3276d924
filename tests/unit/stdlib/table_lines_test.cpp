#include "stdlib/numbers/table_lines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace raddle::stdlib::native {
namespace {

std::vector<std::string_view> fields_of(std::string_view line, std::string_view separator = ",") {
  const TableForm form{.separator = separator};
  Fields fields(form);
  fields.read(line);
  return fields.all();
}

}  // namespace

TEST_CASE("a field in quotes keeps separators together, and its quotes") {
  using Texts = std::vector<std::string_view>;
  CHECK(fields_of("1, \"a, b\" ,\"c \"\",\"\" d\",") == Texts{"1", "\"a, b\"", "\"c \"\",\"\" d\"", ""});
  CHECK(fields_of("  1  \"a b\" 2 ", " ") == Texts{"1", "\"a b\"", "2"});
  CHECK(fields_of("5 \" wide,2") == Texts{"5 \" wide", "2"});
  const TableForm form{.separator = ","};
  Fields fields(form);
  fields.read("1,\"a,b");
  CHECK(fields.all() == Texts{"1", "\"a,b"});
  CHECK(fields.ends_in_quote());
  fields.read("1,2");
  CHECK_FALSE(fields.ends_in_quote());
}

TEST_CASE("parts of a text are whole lines, in order, and all of it") {
  const std::string text = "1\n22\n\n4444444444\n5\n66";
  for (std::size_t count = 1; count <= 30; ++count) {
    const auto parts = parts_of(text, count);
    CHECK(parts.size() <= count);
    std::string joined;
    for (const std::string_view part : parts) {
      CHECK((part.empty() || part.ends_with('\n') || part.ends_with("66")));
      joined += part;
    }
    CHECK(joined == text);
  }
  CHECK(parts_of("", 3) == std::vector<std::string_view>{""});
}

}  // namespace raddle::stdlib::native
