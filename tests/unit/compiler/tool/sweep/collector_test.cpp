#include "compiler/tool/sweep/collector.hpp"

#include <doctest/doctest.h>

#include "compiler/tool/formats/json_text.hpp"

using namespace raddle::sweep;

namespace {

const std::vector<Parameter> parameters = {{"a", ValueType::int_}};
const Point point{.number = 1, .values = {"1"}};

/// As JSON, or the error.
std::string collected(const std::string& word, const std::string& output) {
  const auto collector = Collector::parse(word, parameters);
  REQUIRE_MESSAGE(collector, collector.error().error.message);
  const auto results = collect_all({*collector}, point, {}, output);
  return results ? *results : "error: " + results.error();
}

/// Message, what is underlined.
std::pair<std::string, std::string> collector_fault(const std::string& word) {
  const auto collector = Collector::parse(word, parameters);
  REQUIRE(!collector);
  const ArgumentError& error = collector.error().error;
  return {error.message, word.substr(error.begin, error.end - error.begin)};
}

}  // namespace

TEST_CASE("without a collector the last line is the result") {
  CHECK(*collect_all({}, point, {}, "one\n two \n\n") == R"({"stdout":" two"})");
  CHECK(*collect_all({}, point, {}, "") == R"({"stdout":""})");
}

TEST_CASE("json: members, nested ones by both names, numbers as they are written") {
  CHECK(collected("json:", R"({"E": 1.50, "s": "x", "t": {"u": 2}, "v": [1, {"w": 2}], "n": null})") ==
        R"({"E":1.50,"s":"x","t.u":2,"v":"[1,{\"w\":2}]","n":null})");
  CHECK(collected("json:", "step 1\nstep 2\n{\"E\": 3}\n") == R"({"E":3})");
  CHECK(collected("json:", R"({"a": NaN, "b": [-Infinity, "NaN: \"inf"], "c": inf, "E": 1e-5, "s": "it is -nan"})") ==
        R"({"a":"NaN","b":"[\"-Infinity\",\"NaN: \\\"inf\"]","c":"inf","E":1e-5,"s":"it is -nan"})");
  CHECK(collected("json:", "nothing") == "error: no JSON object in standard output");
}

TEST_CASE("json: strings stay strings, numbers that no float holds lose nothing, depth is bounded") {
  CHECK(collected("json:", R"({"a": "12", "b": "true", "c": 12, "d": {"e": {"f": "7"}}, "g": [{"h": "1"}], "i": 8})") ==
        R"({"a":"12","b":"true","c":12,"d.e.f":"7","g":"[{\"h\":\"1\"}]","i":8})");
  CHECK(collected("json:", R"({"x": 1e400, "y": -1e999, "z": 2, "u": [1e400], "v": 7e013608})") ==
        R"({"x":"1e400","y":"-1e999","z":2,"u":"[\"1e400\"]","v":"7e013608"})");
  const auto nested = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += "{\"a\":";
    return text + "1" + std::string(static_cast<std::size_t>(levels), '}');
  };
  CHECK(collected("json:", nested(3)) == R"({"a.a.a":1})");
  CHECK(collected("json:", nested(100)).ends_with(":1}"));
  CHECK(collected("json:", nested(101)) == "error: objects in more than 100 objects in standard output");
  CHECK(collected("json:", nested(20'000)) == "error: objects in more than 100 objects in standard output");
}

TEST_CASE("members of what an earlier raddle has recorded") {
  const auto members = typed_members(R"({"id":7e013608,"s":"12","n":12,"none":null})");
  REQUIRE(members.size() == 4);
  CHECK((members[0].text == "7e013608" && members[1].is_string && !members[2].is_string && members[3].text.empty()));
  constexpr const char* written[] = {R"("7e013608")", R"("12")", "12", "null"};
  for (std::size_t i = 0; i < members.size(); ++i) CHECK(json_of(members[i]) == written[i]);
}

TEST_CASE("json: half of a surrogate pair is no character, and no reason to lose the other members") {
  CHECK(collected("json:", R"({"a": "\ud800x", "b": 2, "c": "\udc00", "d": "\uD83D\uDE00", "e": "\\ud800"})") ==
        "{\"a\":\"\xEF\xBF\xBDx\",\"b\":2,\"c\":\"\xEF\xBF\xBD\",\"d\":\"\xF0\x9F\x98\x80\",\"e\":\"\\\\ud800\"}");
  CHECK(collected("json:", R"({"a": "\ud800\ud83d\ude00", "b": "\ud8"})") ==
        "error: no JSON object in standard output");
}

TEST_CASE("csv: the last row") {
  CHECK(collected("csv:", "t,E\n1,5\n2,4.5\n") == R"({"t":2,"E":4.5})");
  CHECK(collected("csv:", "t,E\n2,\n") == R"({"t":2,"E":null})");
  CHECK(collected("csv:", "t,E\n") == "error: no row of CSV in standard output");
}

TEST_CASE("regex: the groups of the last line that matches, by the words before them") {
  CHECK(collected(R"(regex:E=(\S+))", "E=1\nE=2 done\nend") == R"({"E":2})");
  CHECK(collected("regex:energy: *([0-9.]+) +steps=([0-9]+)", "energy:  1.5 steps=7") == R"({"energy":1.5,"steps":7})");
  CHECK(collected("regex:([0-9]+) of ([0-9]+)", "3 of 4") == R"({"value1":3,"value2":4})");
  CHECK(collected("regex:(?:a|b)=([0-9]+)", "b=4") == R"({"value":4})");
  CHECK(collected("regex:[0-9]+", "x 17 y") == R"({"value":17})");
  CHECK(collected("regex:E=(.*)", "E=1\n" + std::string((4 << 20) + 1, 'x') + "\n") ==
        "error: `E=(.*)` is not looked for in a line of 4,194,305 bytes, more than 4,194,304, as there is one in "
        "standard output");
  CHECK(collected("regex:E=(.*)", std::string((4 << 20) + 1, 'x') + "\nE=2\n") == R"({"E":2})");
  CHECK(collected("regex:E=(.*)", "none") == "error: no line matches `E=(.*)` in standard output");
}

TEST_CASE("a file is read in place of the output") {
  CHECK(collected("json:/nowhere/{a}.json", "") == "error: can not read `/nowhere/1.json`: no such file or directory");
  CHECK(Collector::parse("regex(/x/{a}):E", parameters)->reads_file());
}

TEST_CASE("errors of collectors mark what is wrong") {
  CHECK(collector_fault("jsn:") == std::pair<std::string, std::string>{"no such kind of result", "jsn"});
  CHECK(collector_fault("regex:").first == "the expression is missing");
  CHECK(collector_fault("regex:(").first == "bad regular expression `(`: unmatched ( or \\(");
  CHECK(collector_fault("regex:a.*?b") ==
        std::pair<std::string, std::string>{"not supported yet: a match as short as possible", "*?"});
  CHECK(collector_fault("json:out_{b}.json") ==
        std::pair<std::string, std::string>{"there is no parameter `b`", "{b}"});
}

TEST_CASE("numbers of JSON") {
  CHECK(json_value("1.0") == "1.0");
  CHECK(json_value("-1e-5") == "-1e-5");
  for (const char* text : {"01", "1.", ".5", "+1", "nan", "1e", "-", "1e400"})
    CHECK(json_value(text) == "\"" + std::string(text) + "\"");
}
