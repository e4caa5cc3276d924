#pragma once
// The values that one parameter takes, each as the text that a program is given: made when asked for, by number.
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/tool/formats/argument_error.hpp"
#include "compiler/tool/space/cells.hpp"
#include "compiler/tool/space/ranges.hpp"

namespace raddle::sweep {

/// What all values of a parameter can be read as.
enum class ValueType : std::uint8_t { int_, float_, string };
ValueType type_of(std::string_view text);
/// What values of both types can be read as.
ValueType common_type(ValueType one, ValueType other);
/// The same for all texts that are read as the same value: as ints 1 and +1, as floats 1, 1.0 and 1e0.
std::string canonical_text(std::string_view value, ValueType read_as);
/// As what it looks like: 1 and 1.0 are one number.
std::string canonical_text(std::string_view value);

struct WordList {
  std::vector<std::string> words;
  bool is_quoted = false;  ///< a text even if it looks like a number
};

class Values {
 public:
  /// `1,2,3`, `0:1:0.1`, `log(1e-4,1e-1,7)`, `small,large`, and such one after the other. A comma or colon that belongs
  /// to a word is written `\,` and `\:`, or the word stands in quotes, as in CSV: `"a,b"`, and `""`, which is empty.
  /// @param offset  of `text` in the word of the command line, for the errors
  static std::expected<Values, ArgumentError> parse(std::string_view text, std::size_t offset);
  static Values of_words(std::vector<std::string> words);

  std::uint64_t size() const { return size_; }
  /// @pre index < size()
  std::string at(std::uint64_t index) const;
  ValueType type() const { return type_; }
  /// A value of a range that floats hold as another one: a whole number beyond 2^53, or the value beside it.
  std::optional<std::string> lost_in_floats() const;
  /// Of a column with these values.
  CellType cell_type() const { return cell_type_.type(); }

 private:
  using Piece = std::variant<WordList, DecimalRange, SpacedRange>;
  void add(Piece piece);
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
  ValueType type_ = ValueType::int_;
  ColumnType cell_type_;
};

}  // namespace raddle::sweep
