#include "compiler/tool/space/cells.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace raddle::sweep;

namespace {

CellType type_of_column(std::initializer_list<const char*> cells) {
  ColumnType column;
  for (const char* cell : cells) column.add(type_of_cell(cell));
  return column.type();
}

std::string json(const char* cell, CellType type) {
  std::string text;
  append_json(text, cell, type);
  return text;
}

}  // namespace

TEST_CASE("cells are kept as what they are written as") {
  for (const char* text : {"0", "-7", "9223372036854775807"}) CHECK(type_of_cell(text) == CellType::int_);
  for (const char* text : {"0.5", "-0", "1e5", "0e1", "-0.0", ".5", "Inf", "-inf", "NaN", "-Infinity"})
    CHECK(type_of_cell(text) == CellType::float_);
  for (const char* text : {"true", "false"}) CHECK(type_of_cell(text) == CellType::boolean);
  for (const char* text : {"007", "-01", "00.5", "+49", "9223372036854775808", "7e013608", "x", "True"})
    CHECK(type_of_cell(text) == CellType::string);
}

TEST_CASE("a column has one type") {
  CHECK(type_of_column({}) == CellType::string);
  CHECK(type_of_column({"1", "2"}) == CellType::int_);
  CHECK(type_of_column({"1", "2.5", "nan"}) == CellType::float_);
  CHECK(type_of_column({"true", "false"}) == CellType::boolean);
  CHECK(type_of_column({"true", "1"}) == CellType::string);
  CHECK(type_of_column({"12345678", "7e013608"}) == CellType::string);
}

TEST_CASE("JSON has a number only where that says the same") {
  CHECK(json("12", CellType::int_) == "12");
  CHECK(json("+12", CellType::int_) == "12");
  CHECK(json("1.50", CellType::float_) == "1.50");
  CHECK(json(".5", CellType::float_) == "0.5");
  CHECK(json("inf", CellType::float_) == "null");
  CHECK(json("12", CellType::string) == "\"12\"");
  CHECK(json("true", CellType::boolean) == "true");
  CHECK(json("true", CellType::string) == "\"true\"");
  CHECK(json("1e400", CellType::float_) == "\"1e400\"");
}
