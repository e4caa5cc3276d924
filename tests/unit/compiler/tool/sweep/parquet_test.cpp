#include "compiler/tool/sweep/parquet.hpp"

#include <doctest/doctest.h>

using namespace raddle::sweep;

TEST_CASE("a page of long texts is written before it is too large for its size") {
  ParquetWriter writer({"text"}, {CellType::string});
  std::string out;
  writer.begin(out);
  const std::string cell(std::size_t{1} << 20, 'x');
  const std::string_view cells[] = {cell};
  for (int i = 0; i < 31; ++i) writer.add(out, cells);
  CHECK(out.size() < 100);
  writer.add(out, cells);
  CHECK(out.size() > std::size_t{32} << 20);
  writer.end(out);
  CHECK(out.ends_with("PAR1"));
}

TEST_CASE("what is no UTF-8 is replaced") {
  ParquetWriter writer({"text"}, {CellType::string});
  std::string out;
  writer.begin(out);
  const std::string_view cells[] = {"caf\xE9 \xC3\xA9"};
  writer.add(out, cells);
  writer.end(out);
  CHECK(out.find("caf\xEF\xBF\xBD \xC3\xA9") != std::string::npos);
}
