#include "compiler/diagnostics/explanations.hpp"

#include <doctest/doctest.h>

namespace raddle {

TEST_CASE("the page is cut into sections at its headings") {
  const Explanation* found = find_explanation("assigned_twice");
  REQUIRE(found != nullptr);
  CHECK(found->summary == "a variable is assigned more than once");
  CHECK(found->text.find("##") == std::string_view::npos);
  CHECK(found->text.starts_with("A variable"));
  CHECK(found->text.ends_with("```"));
}

TEST_CASE("what is no code has no explanation") {
  CHECK(find_explanation("") == nullptr);
  CHECK(find_explanation("assigned") == nullptr);
}

}  // namespace raddle
