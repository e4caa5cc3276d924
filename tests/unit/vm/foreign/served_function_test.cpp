#include "vm/foreign/served_function.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <limits>

#include "vm/foreign/message.hpp"
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

std::expected<std::vector<Value>, FunctionExchange::Problem> outcome_of(const std::string& answer) {
  const ForeignFunction function = function_with_outputs();
  FunctionExchange exchange(function, *served_language(function.kind));
  if (const auto next = exchange.go_on(answer)) return exchange.finish("r");
  return exchange.finish(answer);
}

constexpr std::int64_t least_int32 = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t greatest_exact = std::int64_t{1} << 53;

/// Of a call of `f(value)` in R: the letter of what is sent, and what follows it up to the number of outputs, which is
/// 0.
std::expected<std::pair<char, std::string>, std::string> sent_to_r(ForeignType type, const Value& value) {
  ForeignFunction function;
  function.kind = ForeignKind::r;
  function.library = "model.R";
  function.code = "f";
  function.inputs = {{"x", std::move(type), 0}};
  FunctionExchange exchange(function, *served_language(function.kind));
  const auto request = exchange.request({&value, 1});
  if (!request) return std::unexpected(request.error());
  MessageReader reader(*request);
  CHECK(reader.letter() == 'c');
  CHECK(reader.text() == "model.R");
  CHECK(reader.text() == "f");
  const std::size_t folder = reader.text().size();
  CHECK(reader.number() == std::numeric_limits<std::int64_t>::max());  // nothing is shared
  CHECK(reader.number() == 1);
  const char letter = reader.letter();
  const std::size_t texts = function.library.size() + function.code.size() + folder;
  const std::size_t begin = 2 + texts + 5 * sizeof(std::int64_t);  // two letters, three lengths, two numbers
  return std::pair(letter, request->substr(begin, request->size() - begin - sizeof(std::int64_t)));
}

ForeignType scalar(ValueKind kind) { return {kind, ValueKind::none, {}}; }
ForeignType numbers_of(ValueKind kind) { return {ValueKind::array, ValueKind::int_, {scalar(kind)}}; }

template <typename Number>
Value array_of(ValueKind kind, const std::vector<Number>& numbers) {
  Buffer::Owner buffer = Buffer::make(kind, numbers.size());
  std::memcpy(buffer->at_index(0), numbers.data(), numbers.size() * sizeof(Number));
  return Value::of_object(ValueKind::array, Array::packed_of(std::move(buffer)));
}

/// Of a growing array: letter, one extent, bytes.
template <typename Number>
std::string array_bytes(char letter, const std::vector<Number>& numbers) {
  std::string bytes(1, letter);
  put_number(bytes, 1);
  put_number(bytes, static_cast<std::int64_t>(numbers.size()));
  bytes += 'd';
  put_number(bytes, static_cast<std::int64_t>(numbers.size() * sizeof(Number)));
  return bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
}

std::string number_bytes(std::int64_t number) {
  std::string bytes;
  put_number(bytes, number);
  return bytes;
}

}  // namespace

TEST_CASE("an int goes to R as an integer of 32 bits, else as a double, if that is exact") {
  for (const ValueKind kind : {ValueKind::int_, ValueKind::int32}) {
    const auto sent =
        sent_to_r(scalar(kind), kind == ValueKind::int_ ? Value::of(std::int64_t{-7}) : Value::of_int32(-7));
    REQUIRE(sent);
    CHECK(sent->first == 'n');
    CHECK(sent->second == number_bytes(-7));
  }
  for (const std::int64_t number : {least_int32, -least_int32, greatest_exact, -greatest_exact}) {
    const auto sent = sent_to_r(scalar(ValueKind::int_), Value::of(number));
    REQUIRE(sent);
    CHECK(sent->first == 'f');
    CHECK(sent->second == number_bytes(std::bit_cast<std::int64_t>(static_cast<double>(number))));
  }
  for (const std::int64_t number :
       {greatest_exact + 1, -greatest_exact - 1, std::numeric_limits<std::int64_t>::min()}) {
    const auto sent = sent_to_r(scalar(ValueKind::int_), Value::of(number));
    REQUIRE(!sent);
    CHECK(sent.error().contains("input `x` can not be " + std::to_string(number) + " in R"));
  }
}

TEST_CASE("all ints of an array go to R in one form") {
  using Ints = std::vector<std::int64_t>;
  const auto sent_of = [](const Ints& numbers) {
    return sent_to_r(numbers_of(ValueKind::int_), array_of(ValueKind::int_, numbers));
  };
  CHECK(sent_of({1, -2, 3})->second == array_bytes('n', std::vector<std::int32_t>{1, -2, 3}));
  CHECK(sent_of({1, least_int32})->second == array_bytes('f', std::vector<double>{1, -0x1p31}));
  CHECK(sent_of({greatest_exact, 0})->second == array_bytes('f', std::vector<double>{0x1p53, 0}));
  CHECK(!sent_of({0, greatest_exact + 1}).has_value());
  const std::vector<std::int32_t> narrow{5, -6}, least{5, std::numeric_limits<std::int32_t>::min()};
  const ForeignType type = numbers_of(ValueKind::int32);
  CHECK(sent_to_r(type, array_of(ValueKind::int32, narrow))->second == array_bytes('n', narrow));
  CHECK(sent_to_r(type, array_of(ValueKind::int32, least))->second ==
        array_bytes('f', std::vector<double>{5, -0x1p31}));
}

TEST_CASE("a text with a byte 0 can not go to R") {
  const ForeignType type = scalar(ValueKind::string);
  CHECK(sent_to_r(type, Value::of(std::string("text")))->first == 's');
  CHECK(sent_to_r(type, Value::of(std::string("te\0xt", 5))).error() ==
        "input `x` has a byte 0, which texts of R can not have");
}

TEST_CASE("results of a function are taken from its answer") {
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
