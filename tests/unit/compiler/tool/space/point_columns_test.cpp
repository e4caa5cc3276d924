#include "compiler/tool/space/point_columns.hpp"

#include <doctest/doctest.h>

#include <charconv>
#include <fstream>
#include <numeric>

#include "compiler/tool/space/known_values.hpp"
#include "tests/unit/fresh_folder.hpp"

using namespace raddle::sweep;

namespace {

double float_of(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// What is read of many points at once is what each point has.
void check_against_points(const SpaceOptions& options) {
  const auto space = Space::make(options);
  REQUIRE(space);
  const PointKeys keys({"work"}, space->parameters(), false);
  const KnownValues known(*space);
  const PointColumns columns(*space, keys, known);
  ValueTexts texts(*space, known);
  std::vector<std::uint64_t> numbers(std::min<std::uint64_t>(space->size(), 50));
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{1});
  numbers.push_back(space->size());
  const std::vector<std::uint64_t> all_keys = columns.keys(numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Point point = space->point(numbers[i]);
    CHECK(all_keys[i] == keys.of(point).low);
    std::vector<std::string_view> values;
    texts.read(numbers[i], values);
    CHECK(std::vector<std::string>(values.begin(), values.end()) == point.values);
  }
  for (std::size_t parameter = 0; parameter < space->parameters().size(); ++parameter) {
    const std::vector<double> floats = columns.floats(parameter, numbers);
    const std::vector<std::int64_t> ints = columns.ints(parameter, numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::string text = space->point(numbers[i]).values[parameter];
      CHECK(floats[i] == float_of(text));
      if (space->parameters()[parameter].type == ValueType::int_) CHECK(static_cast<double>(ints[i]) == float_of(text));
    }
  }
}

}  // namespace

TEST_CASE("columns of points are what the points have, one by one") {
  check_against_points({.parameters = {"a=1,2,3", "b=0:1:0.25", "c=log(1,100,3)"}});
  check_against_points({.parameters = {"a=1:3", "b=4:6", "c=0.5,0.25"}, .zips = {"a,b"}});
  check_against_points({.parameters = {"a=1:1000000", "b=-1:1"}});  // too many values to know them all
  check_against_points({.parameters = {"a=1:3"}, .repeats = 4, .seed = 9});
  check_against_points(
      {.parameters = {"a=1,2", "x~U(0,1)", "y~N(0,1)"}, .method = SampleMethod::latin_hypercube, .sample_count = 10});
  const FreshFolder folder;
  const std::string path = "table.csv";
  { std::ofstream(path) << "x,n\n0.5,1\n0.25,2\n"; }
  check_against_points({.parameters = {"a=1,2"}, .table = path});
}

TEST_CASE("a key depends on names and values, not on the order of the parameters") {
  const auto one = Space::make({.parameters = {"a=1", "b=2"}}), turned = Space::make({.parameters = {"b=2", "a=1"}}),
             exchanged = Space::make({.parameters = {"a=2", "b=1"}});
  const auto key = [](const Space& space, const char* work) {
    return PointKeys({work}, space.parameters(), false).of(space.point(1));
  };
  CHECK(key(*one, "w") == key(*turned, "w"));
  CHECK(key(*one, "w") != key(*exchanged, "w"));
  CHECK(key(*one, "w") != key(*one, "v"));
}
