#include "compiler/tool/sweep/command_template.hpp"

#include <doctest/doctest.h>

using namespace raddle::sweep;

namespace {

const std::vector<Parameter> template_parameters = {
    {"a", ValueType::int_}, {"beta", ValueType::string}, {"x", ValueType::float_}};
const Point template_point{.number = 12, .values = {"1", "x y", "0.0625"}, .seed = 99};

std::vector<std::string> words(const std::vector<std::string>& text) {
  const auto command = CommandTemplate::parse(text, template_parameters);
  REQUIRE(command);
  return command->words_for(template_point, {.slot = 4, .run = "k7"});
}

/// Message, what is underlined, help.
std::vector<std::string> fault_of_word(const std::string& word) {
  const auto command = CommandTemplate::parse({"run", word}, template_parameters);
  REQUIRE(!command);
  const ArgumentError& error = command.error().error;
  return {error.message, word.substr(error.begin, error.end - error.begin), error.help};
}

}  // namespace

TEST_CASE("placeholders are replaced, a word stays one word") {
  CHECK(words({"run", "--a={a}", "{beta}"}) == std::vector<std::string>{"run", "--a=1", "x y"});
  CHECK(words({"out_{#}.txt", "{seed}{a}"}) == std::vector<std::string>{"out_12.txt", "991"});
}

TEST_CASE("where it is run") {
  CHECK(words({"{run.dir}/out", "{%}"}) == std::vector<std::string>{".raddle/runs/k7/12/out", "4"});
}

TEST_CASE("values are formatted as their parameter is written") {
  CHECK(words({"{x:.2f}", "{a:03d}{a:.1e}", "{beta:>5}", "{#:04d}", "{x:}"}) ==
        std::vector<std::string>{"0.06", "0011.0e+00", "  x y", "0012", "0.0625"});
  CHECK(fault_of_word("{x:d}").at(0) == "`d` is no format of a number");
  CHECK(fault_of_word("{beta:.2f}").at(0) == "`.2f` is no format of a text");
  CHECK(fault_of_word("{run.dir:d}").at(0) == "`d` is no format of a text");
  CHECK(fault_of_word("{a:{a}}").at(1) == "{a:{a}");
}

TEST_CASE("what can be told without a run") {
  const auto is_plain = [](const char* word) {
    return CommandTemplate::parse({word}, template_parameters)->is_plain();
  };
  CHECK((is_plain("{a}{#}{seed}") && is_plain("a")));
  CHECK(!(is_plain("{a:d}") || is_plain("{%}") || is_plain("{run.dir}")));
}

TEST_CASE("two braces are one") {
  CHECK(words({"{{a}}", "{{\"a\": {a}}}", "}"}) == std::vector<std::string>{"{a}", "{\"a\": 1}", "}"});
}

TEST_CASE("errors of placeholders mark them") {
  CHECK(fault_of_word("x{bta}") ==
        std::vector<std::string>{"there is no parameter `bta`", "{bta}", "did you mean `{beta}`?"});
  CHECK(fault_of_word("{rep}") ==
        std::vector<std::string>{"there is no parameter `rep`", "{rep}", "--repeats N makes it"});
  CHECK(fault_of_word("{n").at(0) == "a placeholder is not closed");
  CHECK(fault_of_word("{}").at(1) == "{}");
}

TEST_CASE("parameters that no word names") {
  CHECK(CommandTemplate::parse({"run", "{a}"}, template_parameters)->unused(template_parameters) ==
        std::vector<std::string>{"beta", "x"});
}
