#pragma once
// Lines of tables of numbers, and what stands in them.
#include <algorithm>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib/native/table_fields.hpp"

namespace raddle::stdlib::native {

/// The lines of a text, one after the other.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool are_over() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::int64_t count() const { return count_; }  ///< how many have been taken

  std::string_view take() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++count_;
    return line;
  }

 private:
  std::string_view rest_;
  std::int64_t count_ = 0;
};

/// The fields of one line, without the blanks around them. Quotes stay, and keep what is in them together.
class Fields {
 public:
  explicit Fields(const TableForm& form) : form_(form) {}

  void read(std::string_view line);
  const std::vector<std::string_view>& all() const { return all_; }
  bool ends_in_quote() const { return ends_in_quote_; }  ///< no quote ends the last one

 private:
  std::size_t end_of_field(std::string_view rest);

  const TableForm& form_;
  std::vector<std::string_view> all_;
  bool ends_in_quote_ = false;
};

/// What all parts of a table have in common.
struct TableShape {
  std::size_t fields = 0;                               ///< of each line
  std::optional<std::vector<std::size_t>> chosen = {};  ///< of the fields; none: all
  const char* first_line = nullptr;                     ///< with fields; null: there is none
  std::size_t columns() const { return chosen ? chosen->size() : fields; }
};

/// Passes over the first line, if it has names.
/// @return  what the first line of numbers tells
std::expected<TableShape, std::string> shape_of(const std::string& path, Lines& lines, const TableForm& form);

/// Whole lines, about as many bytes in each part.
std::vector<std::string_view> parts_of(std::string_view text, std::size_t count);

}  // namespace raddle::stdlib::native
