#include "stdlib/native/script_arguments.hpp"

#include <doctest/doctest.h>

using raddle::stdlib::ScriptArguments;
using raddle::stdlib::split_arguments;

TEST_CASE("flags lose their dashes, and the first `=` begins their value") {
  const ScriptArguments given = split_arguments({"-v", "f2", "--a=1=2", "---b", "-5", "--q=", "x=y"});
  CHECK(given.positional == std::vector<std::string>{"f2", "x=y"});
  CHECK(given.flags.at("v") == "");
  CHECK(given.flags.at("a") == "1=2");
  CHECK(given.flags.at("-b") == "");
  CHECK(given.flags.at("5") == "");
  CHECK(given.flags.at("q") == "");
}

TEST_CASE("a value in quotes goes on to the closing one") {
  const ScriptArguments given = split_arguments({"--k=\"a", "b", "c\"", "--one=\"x\"", "d"});
  CHECK(given.flags.at("k") == "a b c");
  CHECK(given.flags.at("one") == "x");
  CHECK(given.positional == std::vector<std::string>{"d"});
}

TEST_CASE("an empty word ends the arguments") {
  const ScriptArguments given = split_arguments({"a", "", "b", "-c"});
  CHECK(given.positional == std::vector<std::string>{"a"});
  CHECK(given.flags.empty());
}
