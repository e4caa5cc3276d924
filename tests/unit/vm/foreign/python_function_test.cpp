#include "vm/foreign/python_function.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>

#include "vm/value/array.hpp"

namespace raddle::vm {

namespace {

void put_number(std::string& to, std::int64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// `(float y[n], int k, string s) f(...)`, which have no inputs here but the extent of `y`.
ForeignFunction function_with_outputs() {
  ForeignFunction function;
  function.kind = ForeignKind::python;
  const ForeignType number{ValueKind::int_, ValueKind::none, {}}, real{ValueKind::float_, ValueKind::none, {}};
  function.inputs = {{"", number, 0}};
  function.outputs = {{"y", {ValueKind::array, ValueKind::int_, {real}}, 1},
                      {"", number, 0},
                      {"k", number, 0},
                      {"s", {ValueKind::string, ValueKind::none, {}}, 0}};
  return function;
}

std::string answer_of(std::initializer_list<double> numbers, std::int64_t k, std::string_view s) {
  std::string answer = "r";
  put_number(answer, static_cast<std::int64_t>(numbers.size()));
  answer += 'd';
  put_number(answer, static_cast<std::int64_t>(numbers.size()) * 8);
  for (const double number : numbers) put_number(answer, std::bit_cast<std::int64_t>(number));
  put_number(answer, k);
  put_number(answer, static_cast<std::int64_t>(s.size()));
  return answer.append(s);
}

std::expected<std::vector<Value>, PythonExchange::Problem> outcome_of(const std::string& answer) {
  const ForeignFunction function = function_with_outputs();
  PythonExchange exchange(function);
  if (const auto next = exchange.go_on(answer)) return exchange.finish("r");
  return exchange.finish(answer);
}

}  // namespace

TEST_CASE("results of a function in Python are taken from its answer") {
  const auto results = outcome_of(answer_of({1.5, -2.0}, 7, "text"));
  REQUIRE(results);
  REQUIRE(results->size() == 4);
  CHECK((*results)[0].as_array().get(Value::of(std::int64_t{1})).as_float() == -2.0);
  CHECK((*results)[1].as_int() == 2);
  CHECK((*results)[2].as_int() == 7);
  CHECK((*results)[3].as_string() == "text");
}

TEST_CASE("an answer that makes no sense is an error, wherever it is cut or changed") {
  const std::string answer = answer_of({1.5, -2.0}, 7, "text");
  for (std::size_t length = 0; length < answer.size(); ++length)
    CHECK(!outcome_of(answer.substr(0, length)).has_value());
  for (std::size_t i = 1; i < 18; ++i) {  // extent, letter, number of bytes
    std::string changed = answer;
    changed[i] = static_cast<char>(changed[i] + 101);
    CHECK(!outcome_of(changed).has_value());
  }
}

TEST_CASE("an exception has its text and its traceback") {
  std::string answer = "x";
  for (const std::string_view part : {"ValueError: bad", "Traceback:\n\n  line\n"}) {
    put_number(answer, static_cast<std::int64_t>(part.size()));
    answer += part;
  }
  const auto outcome = outcome_of(answer);
  REQUIRE(!outcome);
  CHECK(outcome.error().message == "ValueError: bad");
  CHECK(outcome.error().notes.details == std::vector<std::string>{"Traceback:", "  line"});
}

}  // namespace raddle::vm
