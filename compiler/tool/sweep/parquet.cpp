#include "compiler/tool/sweep/parquet.hpp"

#include <algorithm>
#include <bit>

#include "compiler/tool/formats/scan.hpp"
#include "stdlib/native/utf8.hpp"
#include "vm/value/text.hpp"

namespace raddle::sweep {
namespace {

constexpr std::uint64_t rows_of_group = 1 << 16;
constexpr std::uint64_t bytes_of_group = 32 << 20;
constexpr std::string_view magic = "PAR1";

// The numbers of the format's enumerations (parquet.thrift).
enum PhysicalType : std::int32_t { type_int64 = 2, type_double = 5, type_bytes = 6 };
constexpr std::int32_t repetition_optional = 1, converted_utf8 = 0;
constexpr std::int32_t encoding_plain = 0, encoding_rle = 3, uncompressed = 0, data_page = 0;

PhysicalType physical(CellType type) {
  switch (type) {
    case CellType::int_: return type_int64;
    case CellType::float_: return type_double;
    case CellType::boolean:
    case CellType::string: break;
  }
  return type_bytes;
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

template <typename Word>
void append_little_endian(std::string& out, Word word) {
  for (std::size_t i = 0; i < sizeof word; ++i) out += static_cast<char>(word >> 8 * i);
}

/// A structure in Thrift's compact protocol: fields in increasing order of their numbers.
class Structure {
 public:
  Structure& integer(int field, std::int32_t value) { return number(field, 5, value); }
  Structure& long_integer(int field, std::uint64_t value) { return number(field, 6, static_cast<std::int64_t>(value)); }
  Structure& text(int field, std::string_view value) {
    head(field, 8);
    append_text(value);
    return *this;
  }
  Structure& structure(int field, const Structure& value) {
    head(field, 12);
    bytes_ += value.bytes();
    return *this;
  }
  Structure& structures(int field, const std::vector<Structure>& values) {
    list_head(field, 12, values.size());
    for (const Structure& value : values) bytes_ += value.bytes();
    return *this;
  }
  Structure& integers(int field, const std::vector<std::int32_t>& values) {
    list_head(field, 5, values.size());
    for (const std::int32_t value : values) append_zigzag(value);
    return *this;
  }
  Structure& texts(int field, const std::vector<std::string>& values) {
    list_head(field, 8, values.size());
    for (const std::string& value : values) append_text(value);
    return *this;
  }
  std::string bytes() const { return bytes_ + '\0'; }

 private:
  void head(int field, int type) {
    bytes_ += static_cast<char>((field - last_) << 4 | type);  // no two fields here are more than 15 apart
    last_ = field;
  }
  void list_head(int field, int type, std::size_t size) {
    head(field, 9);
    if (size < 15) {
      bytes_ += static_cast<char>(size << 4 | static_cast<unsigned>(type));
    } else {
      bytes_ += static_cast<char>(0xF0 | type);
      append_varint(bytes_, size);
    }
  }
  Structure& number(int field, int type, std::int64_t value) {
    head(field, type);
    append_zigzag(value);
    return *this;
  }
  void append_zigzag(std::int64_t value) {
    append_varint(bytes_, static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void append_text(std::string_view value) {
    append_varint(bytes_, value.size());
    bytes_ += value;
  }
  std::string bytes_;
  int last_ = 0;
};

/// Which rows have a value: one run of bits, with its length before it.
std::string levels(const std::vector<bool>& is_there) {
  std::string run;
  append_varint(run, (is_there.size() + 7) / 8 << 1 | 1);
  for (std::size_t i = 0; i < is_there.size(); i += 8) {
    unsigned bits = 0;
    for (std::size_t k = i; k < std::min(i + 8, is_there.size()); ++k) bits |= unsigned{is_there[k]} << (k - i);
    run += static_cast<char>(bits);
  }
  std::string out;
  append_little_endian(out, static_cast<std::uint32_t>(run.size()));
  return out + run;
}

void append_plain(std::string& out, std::string_view cell, CellType type) {
  switch (type) {
    case CellType::int_: append_little_endian(out, static_cast<std::uint64_t>(read_int(cell))); break;
    case CellType::float_:
      append_little_endian(out, std::bit_cast<std::uint64_t>(vm::float_of_text(cell).value_or(0)));
      break;
    case CellType::boolean:
    case CellType::string: {
      const std::string text = stdlib::native::utf8_repaired(cell);
      append_little_endian(out, static_cast<std::uint32_t>(text.size()));
      out += text;
      break;
    }
  }
}

}  // namespace

ParquetWriter::ParquetWriter(std::vector<std::string> names, std::vector<CellType> types)
    : names_(std::move(names)), types_(std::move(types)), columns_(names_.size()) {}

void ParquetWriter::append(std::string& out, std::string_view bytes) {
  out += bytes;
  size_ += bytes.size();
}

void ParquetWriter::begin(std::string& out) { append(out, magic); }

void ParquetWriter::add(std::string& out, std::span<const std::string_view> cells) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].is_there.push_back(!is_missing(cells[i]));
    if (is_missing(cells[i])) continue;
    append_plain(columns_[i].values, cells[i], types_[i]);
    bytes_in_group_ += cells[i].size();
  }
  if (++rows_in_group_ == rows_of_group || bytes_in_group_ >= bytes_of_group) end_row_group(out);
}

void ParquetWriter::end_row_group(std::string& out) {
  if (rows_in_group_ == 0) return;
  RowGroup& group = groups_.emplace_back();
  group.row_count = rows_in_group_;
  for (Column& column : columns_) {
    const std::string page = levels(column.is_there) + column.values;
    const auto page_size = static_cast<std::int32_t>(page.size());
    Structure of_data;
    of_data.integer(1, static_cast<std::int32_t>(rows_in_group_)).integer(2, encoding_plain);
    of_data.integer(3, encoding_rle).integer(4, encoding_rle);
    Structure header;
    header.integer(1, data_page).integer(2, page_size).integer(3, page_size).structure(5, of_data);
    const std::uint64_t offset = size_;
    append(out, header.bytes());
    append(out, page);
    group.chunks.push_back({offset, size_ - offset});
    column = {};
  }
  row_count_ += rows_in_group_;
  rows_in_group_ = bytes_in_group_ = 0;
}

std::string ParquetWriter::footer() const {
  std::vector<Structure> schema(1), groups;
  schema[0].text(4, "schema").integer(5, static_cast<std::int32_t>(names_.size()));
  for (std::size_t i = 0; i < names_.size(); ++i) {
    Structure& element = schema.emplace_back();
    element.integer(1, physical(types_[i])).integer(3, repetition_optional).text(4, names_[i]);
    if (physical(types_[i]) == type_bytes) element.integer(6, converted_utf8);
  }
  for (const RowGroup& group : groups_) {
    std::vector<Structure> chunks;
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Chunk& chunk = group.chunks[i];
      Structure data;
      data.integer(1, physical(types_[i])).integers(2, {encoding_plain, encoding_rle}).texts(3, {names_[i]});
      data.integer(4, uncompressed).long_integer(5, group.row_count).long_integer(6, chunk.size);
      data.long_integer(7, chunk.size).long_integer(9, chunk.offset);
      chunks.emplace_back().long_integer(2, chunk.offset).structure(3, data);
      size += chunk.size;
    }
    groups.emplace_back().structures(1, chunks).long_integer(2, size).long_integer(3, group.row_count);
  }
  Structure file;
  file.integer(1, 1).structures(2, schema).long_integer(3, row_count_).structures(4, groups).text(6, "raddle");
  return file.bytes();
}

void ParquetWriter::end(std::string& out) {
  end_row_group(out);
  const std::string metadata = footer();
  append(out, metadata);
  std::string size;
  append_little_endian(size, static_cast<std::uint32_t>(metadata.size()));
  append(out, size);
  append(out, magic);
}

}  // namespace raddle::sweep
