#include "compiler/tool/space/space.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "compiler/tool/space/cursor.hpp"
#include "compiler/tool/space/permutation.hpp"
#include "compiler/tool/space/point_key.hpp"
#include "compiler/tool/space/sobol.hpp"
#include "tests/unit/fresh_folder.hpp"
#include "vm/value/hash.hpp"

using namespace raddle::sweep;

namespace {

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

std::vector<std::string> points(const Space& space, const CursorOptions& options = {}) {
  std::vector<std::string> all;
  Cursor cursor(space, options);
  while (const auto point = cursor.next()) all.push_back(joined(point->values));
  return all;
}

Space space_of(const SpaceOptions& options) {
  auto space = Space::make(options);
  REQUIRE_MESSAGE(space, space.error().error.message);
  return *space;
}

/// Option, message, what is underlined.
std::vector<std::string> fault(const SpaceOptions& options) {
  const auto space = Space::make(options);
  REQUIRE(!space);
  const OptionError& error = space.error();
  return {error.option, error.error.message, error.word.substr(error.error.begin, error.error.end - error.error.begin)};
}

using Lines = std::vector<std::string>;

/// A file that is gone at the end.
struct TemporaryFile {
  FreshFolder folder;
  std::string path = "table.csv";
  explicit TemporaryFile(const std::string& text) { std::ofstream(path) << text; }
};

}  // namespace

TEST_CASE("parameters form a grid, the last one fastest") {
  CHECK(points(space_of({.parameters = {"a=1,2", "b=x,y"}})) == Lines{"1,x", "1,y", "2,x", "2,y"});
  CHECK(points(space_of({})) == Lines{""});
}

TEST_CASE("zipped parameters step together and stand where the first one stands") {
  CHECK(points(space_of({.parameters = {"a=1,2", "c=7,8", "b=x,y"}, .zips = {"a,b"}})) ==
        Lines{"1,x,7", "1,x,8", "2,y,7", "2,y,8"});
  CHECK(fault({.parameters = {"a=1,2", "b=1,2,3"}, .zips = {"a,b"}}) ==
        Lines{"--zip", "`b` has 3 values, but `a` has 2", "b"});
  CHECK(fault({.parameters = {"a=1,2"}, .zips = {"a,bb"}}) ==
        Lines{"--zip", "no parameter `bb` has a list of values", "bb"});
  CHECK(fault({.parameters = {"a=1", "b=1"}, .zips = {"a,b", "b,a"}}) == Lines{"--zip", "`b` is zipped twice", "b"});
}

TEST_CASE("a table's rows are points") {
  const TemporaryFile file("x, name\n1,\"a \"\"b\"\", c\"\n\n2.5,plain\r\n");
  const Space space = space_of({.parameters = {"k=1,2"}, .table = file.path});
  CHECK(points(space) == Lines{"1,1,a \"b\", c", "1,2.5,plain", "2,1,a \"b\", c", "2,2.5,plain"});
  CHECK(space.parameters()[1].type == ValueType::float_);
  CHECK(space.parameters()[2].type == ValueType::string);
}

TEST_CASE("what is wrong with a table is told with its line") {
  const auto message = [](const std::string& text) {
    const TemporaryFile file(text);
    const auto space = Space::make({.table = file.path});
    REQUIRE(!space);
    return space.error().error.message;
  };
  CHECK(message("a,b\n1,2\n3\n") == "table.csv:3: 1 cell, but the head has 2");
  CHECK(message("a,a\n1,2\n") == "table.csv:1: two columns are named `a`");
  CHECK(message("") == "table.csv:1: there is no head with the names of parameters");
  CHECK(message("a\n\"1\n") == "table.csv:2: a quote is not closed");
  CHECK(message("a\n") == "it has no rows");
  CHECK(message("a-b\n1\n") == "`a-b` is no name for a parameter");
  CHECK(fault({.table = "/nowhere.csv"})[1].starts_with("can not read `/nowhere.csv`"));
}

TEST_CASE("repeats vary fastest and make seeds that depend on the values") {
  const Space space = space_of({.parameters = {"a=1,2"}, .repeats = 2});
  CHECK(space.size() == 4);
  CHECK(space.point(3).values[1] == "1");
  CHECK(space.point(4).values[1] == "2");
  CHECK(space.point(3).values[2] == std::to_string(space.point(3).seed));
  CHECK(space.point(3).seed != space.point(4).seed);
  const Space larger = space_of({.parameters = {"a=0,1,2"}, .repeats = 5});
  CHECK(larger.point(6).values[0] == "1");
  CHECK(larger.point(6).seed == space.point(1).seed);
  CHECK(space_of({.parameters = {"a=1,2"}, .repeats = 2, .seed = 1}).point(1).seed != space.point(1).seed);
}

TEST_CASE("errors of parameters mark what is wrong") {
  CHECK(fault({.parameters = {"a"}}) == Lines{"-p", "values are missing", "a"});
  CHECK(fault({.parameters = {"2a=1"}}) == Lines{"-p", "`2a` is no name for a parameter", "2a"});
  CHECK(fault({.parameters = {"a=1", "a=2"}}) == Lines{"-p", "the parameter `a` is given twice", "a"});
  CHECK(fault({.parameters = {"seed=1"}, .repeats = 2}) == Lines{"-p", "`seed` is made by --repeats", "seed"});
  CHECK(fault({.parameters = {"a=1:x"}}) == Lines{"-p", "the range's last value `x` is no number", "x"});
  CHECK(fault({.parameters = {"a~U(0,1)"}}) == Lines{"-p", "how many values of `a` are to be drawn?", "a~U(0,1)"});
  CHECK(fault({.parameters = {"a~V(0,1)"}}) == Lines{"-p", "there is no distribution `V`", "V"});
  CHECK(fault({.parameters = {"a~U(0)"}}) == Lines{"-p", "`U` takes two numbers, not 1", "U(0)"});
  CHECK(fault({.parameters = {"a~U(1,0)"}}) == Lines{"-p", "the low end 1 is not below the high end 0", "U(1,0)"});
  CHECK(fault({.parameters = {"a~N(0,-1)"}}) == Lines{"-p", "the standard deviation is not positive", "-1"});
  CHECK(fault({.parameters = {"a~logU(0,1)"}}) == Lines{"-p", "`logU` is for positive values", "0"});
  CHECK(fault({.parameters = {"a~U(0,z)"}}) == Lines{"-p", "`z` is no number", "z"});
  CHECK(fault({.parameters = {"a~5"}}) == Lines{"-p", "`5` is no distribution", "5"});
  CHECK(fault({.parameters = {"a=1"}, .method = SampleMethod::random, .sample_count = 5}) ==
        Lines{"--random", "no parameter has a distribution", "5"});
  CHECK(fault({.parameters = {"a=0:999999999999", "b=0:999999999999"}})[1] == "the sweep has more than 2^62 points");
}

TEST_CASE("drawn values lie in their distribution") {
  for (const SampleMethod method : {SampleMethod::random, SampleMethod::latin_hypercube, SampleMethod::sobol}) {
    const Space space =
        space_of({.parameters = {"u~U(2,4)", "n~N(10,2)", "l~logU(1,10000)"}, .method = method, .sample_count = 4096});
    double sum_u = 0, sum_n = 0, squares_n = 0, sum_l = 0;
    for (std::uint64_t i = 1; i <= space.size(); ++i) {
      const auto values = space.point(i).values;
      const double u = std::stod(values[0]), n = std::stod(values[1]), l = std::stod(values[2]);
      CHECK(u > 2);
      CHECK(u < 4);
      CHECK(l > 1);
      CHECK(l < 10000);
      sum_u += u;
      sum_n += n;
      squares_n += (n - 10) * (n - 10);
      sum_l += std::log10(l);
    }
    const double tolerance = method == SampleMethod::random ? 0.1 : 0.005;
    CHECK(sum_u / 4096 == doctest::Approx(3).epsilon(tolerance));
    CHECK(sum_n / 4096 == doctest::Approx(10).epsilon(tolerance));
    CHECK(squares_n / 4096 == doctest::Approx(4).epsilon(2 * tolerance));
    CHECK(sum_l / 4096 == doctest::Approx(2).epsilon(tolerance));
  }
}

TEST_CASE("the first points of a random and a Sobol sweep stay when it grows") {
  for (const SampleMethod method : {SampleMethod::random, SampleMethod::sobol}) {
    const SpaceOptions few{.parameters = {"x~U(0,1)"}, .method = method, .sample_count = 8};
    SpaceOptions many = few;
    many.sample_count = 32;
    CHECK(space_of(few).point(8).values == space_of(many).point(8).values);
  }
}

TEST_CASE("a Latin hypercube and Sobol's sequence have one value in each of equal intervals") {
  for (const SampleMethod method : {SampleMethod::latin_hypercube, SampleMethod::sobol}) {
    SpaceOptions options{.parameters = {}, .method = method, .sample_count = 64};
    for (unsigned i = 0; i < most_sobol_dimensions; ++i)
      options.parameters.push_back("x" + std::to_string(i) + "~U(0,64)");
    const Space space = space_of(options);
    for (unsigned dimension = 0; dimension < most_sobol_dimensions; ++dimension) {
      std::set<int> intervals;
      for (std::uint64_t i = 1; i <= 64; ++i)
        intervals.insert(static_cast<int>(std::stod(space.point(i).values[dimension])));
      CHECK(intervals.size() == 64);
    }
    options.parameters.emplace_back("more~U(0,1)");
    CHECK(Space::make(options).has_value() == (method == SampleMethod::latin_hypercube));
  }
}

TEST_CASE("the normal distribution's quantiles") {
  const Distribution normal = *Distribution::parse("N(0,1)", 0);
  CHECK(normal.quantile(0.5) == doctest::Approx(0));
  CHECK(normal.quantile(0.975) == doctest::Approx(1.959963984540054).epsilon(1e-14));
  CHECK(normal.quantile(1e-10) == doctest::Approx(-6.361340902404056).epsilon(1e-13));
  CHECK(normal.quantile(0.01) == doctest::Approx(-2.3263478740408408).epsilon(1e-14));
}

TEST_CASE("a permutation has each number once") {
  for (const std::uint64_t size : {1, 2, 3, 7, 64, 1000, 4097}) {
    const Permutation order(size, 5);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < size; ++i) seen.insert(order.at(i));
    CHECK(seen.size() == size);
    CHECK(*seen.rbegin() == size - 1);
  }
  CHECK(Permutation(std::uint64_t{1} << 62, 1).at(12345) < std::uint64_t{1} << 62);
}

TEST_CASE("shards part the points, an order mixes them, a filter leaves some out") {
  const Space space = space_of({.parameters = {"a=1:10"}});
  CHECK(points(space, {.shard = 2, .shard_count = 3}) == Lines{"2", "5", "8"});
  CHECK(points(space, {.shard = 1, .shard_count = 3}) == Lines{"1", "4", "7", "10"});
  CHECK(points(space, {.numbers = {9, 3}}) == Lines{"9", "3"});
  Lines mixed = points(space, {.order_seed = 1});
  CHECK(mixed != points(space));
  std::ranges::sort(mixed, {}, [](const std::string& text) { return std::stoi(text); });
  CHECK(mixed == points(space));
  const auto even = [](const std::vector<Point>& block) -> std::expected<std::vector<bool>, std::string> {
    std::vector<bool> keep;
    for (const Point& point : block) keep.push_back(point.number % 2 == 0);
    return keep;
  };
  CHECK(points(space, {.filter = even}) == Lines{"2", "4", "6", "8", "10"});
}

TEST_CASE("ten million points take no memory: the last one is made at once") {
  const Space space = space_of({.parameters = {"a=0:9999:1", "b=lin(0,1,1000)"}});
  CHECK(space.size() == 10'000'000);
  CHECK(joined(space.point(10'000'000).values) == "9999,1");
}

TEST_CASE("equal work has equal keys, whatever the order of parameters") {
  const Space ab = space_of({.parameters = {"a=1,2", "b=3"}}), ba = space_of({.parameters = {"b=3", "a=2,1"}});
  const PointKeys keys({"run", "{a}"}, ab.parameters(), false), others({"run", "{a}"}, ba.parameters(), false);
  CHECK(keys.of(ab.point(1)) == others.of(ba.point(2)));
  CHECK(!(keys.of(ab.point(1)) == keys.of(ab.point(2))));
  const PointKeys command({"run", "{a}", ""}, ab.parameters(), false);
  CHECK(!(keys.of(ab.point(1)) == command.of(ab.point(1))));
}

TEST_CASE("a seed comes of the values as they are read, whatever their text and the order of parameters") {
  Space short_text = space_of({.parameters = {"a=1", "n=7"}}), long_text = space_of({.parameters = {"n=7", "a=1.00"}});
  CHECK(short_text.point(1).seed != long_text.point(1).seed);  // two strings
  short_text.read_values_as({ValueType::float_, ValueType::int_});
  long_text.read_values_as({ValueType::int_, ValueType::float_});
  CHECK(short_text.point(1).seed == long_text.point(1).seed);
  const PointKeys keys({"run"}, short_text.parameters(), true), others({"run"}, long_text.parameters(), true);
  CHECK(keys.of(short_text.point(1)) == others.of(long_text.point(1)));
}

TEST_CASE("the hash is that of the original") {
  CHECK(raddle::vm::hash("").low == 0);
  CHECK(raddle::vm::hash("The quick brown fox jumps over the lazy dog").low == 0xe34bbc7bbc071b6c);
  CHECK(raddle::vm::hash("The quick brown fox jumps over the lazy dog").high == 0x7a433ca9c49a9347);
}

TEST_CASE("values that are there twice") {
  const auto text = [](const SpaceOptions& options) {
    std::string told;
    for (const Space::Repeated& each : space_of(options).repeated(1000, false)) {
      for (const std::string& name : each.names) told += name + " ";
      for (const std::string& value : each.values) told += value + " ";
      told += std::to_string(each.count) + ";";
    }
    return told;
  };
  CHECK(text({.parameters = {"a=1,2,1:3,1", "b=x,y"}}) == "a 1 3;");
  CHECK(text({.parameters = {"a=1,2,1", "b=x,y,y"}, .zips = {"a,b"}}).empty());
  CHECK(text({.parameters = {"a=1,2,1", "b=x,y,x"}, .zips = {"a,b"}}) == "a b 1 x 2;");
  CHECK(text({.parameters = {"a=1,1.0"}}).empty());  // two words
  CHECK(text({.parameters = {"a=0:2000", "b=1,1"}}) == "b 1 2;");
  Space floats = space_of({.parameters = {"a=1,1.0"}});
  floats.read_values_as({ValueType::float_});
  CHECK(floats.repeated(1000, false).front().count == 2);
  const Space::Repeated numbers = space_of({.parameters = {"a=1,1.0,01,2"}}).repeated(1000, true).front();
  CHECK(numbers.count == 3);
  CHECK(!numbers.are_spelled_alike);
  CHECK(space_of({.parameters = {"a=1,2,1"}}).repeated(1000, true).front().are_spelled_alike);
  CHECK(space_of({.parameters = {"a=x,X"}}).repeated(1000, true).empty());
}
