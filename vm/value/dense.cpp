#include "vm/value/dense.hpp"

#include <algorithm>

#include "vm/value/array.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t shown_at_each_end = 3;

class DenseText {
 public:
  DenseText(const Array& elements, std::vector<std::int64_t> extents, DenseLayout layout)
      : elements_(elements), extents_(std::move(extents)), strides_(extents_.size(), 1), columns_(layout.columns) {
    std::int64_t count = 1;
    for (std::size_t axis = extents_.size(); axis-- > 0;) {
      strides_[axis] = count;
      count *= extents_[axis];
    }
    is_cut_ = count > layout.most;
  }

  std::string run() {
    visit(0, 0, [this](std::int64_t element) { width_ = std::max(width_, text(element).size()); });
    if (extents_.size() == 1) width_ = 0;
    add(0, 0);
    return std::move(text_);
  }

 private:
  bool is_left_out(std::size_t axis, std::int64_t index) const {
    return is_cut_ && index >= shown_at_each_end && index < extents_[axis] - shown_at_each_end;
  }

  template <typename Visit>
  void visit(std::size_t axis, std::int64_t first, const Visit& see) {
    for (std::int64_t i = 0; i < extents_[axis]; ++i) {
      if (is_left_out(axis, i)) i = extents_[axis] - shown_at_each_end;
      if (axis + 1 == extents_.size())
        see(first + i);
      else
        visit(axis + 1, first + i * strides_[axis], see);
    }
  }

  void add(std::size_t axis, std::int64_t first) {
    const bool is_row = axis + 1 == extents_.size();
    const std::string next_line = "\n" + std::string(axis + 1, ' ');
    text_ += '[';
    for (std::int64_t i = 0; i < extents_[axis]; ++i) {
      if (i > 0 && !is_row) text_ += "," + next_line;
      if (is_left_out(axis, i)) {
        if (is_row)
          add_word("...", next_line);
        else
          text_ += "...," + next_line;
        i = extents_[axis] - shown_at_each_end;
      }
      if (is_row) {
        const std::string each = text(first + i);
        add_word(std::string(width_ > each.size() ? width_ - each.size() : 0, ' ') + each, next_line);
      } else {
        add(axis + 1, first + i * strides_[axis]);
      }
    }
    text_ += ']';
  }

  /// Of a row; behind what is there already, or, if the line is full, below.
  void add_word(const std::string& word, const std::string& next_line) {
    if (text_.ends_with('[')) {
      text_ += word;
      return;
    }
    text_ += columns_ != 0 && has_full_line(word.size()) ? "," + next_line : ", ";
    text_ += word;
  }

  bool has_full_line(std::size_t length) const {
    const std::size_t line = text_.rfind('\n');
    const std::size_t used = text_.size() - (line == std::string::npos ? 0 : line + 1);
    return used + length + 3 > columns_;  // a comma, a blank, what closes the row
  }

  std::string text(std::int64_t element) const { return result_text(elements_.get(Value::of(element))); }

  const Array& elements_;
  const std::vector<std::int64_t> extents_;
  std::vector<std::int64_t> strides_;
  const std::size_t columns_;
  bool is_cut_ = false;
  std::size_t width_ = 0;
  std::string text_;
};

}  // namespace

bool is_dense(const Structure& structure) {
  return structure.field_count() > 1 && structure.field_name(0) == dense_elements_name;
}

std::vector<std::int64_t> dense_extents(Structure& structure) {
  std::vector<std::int64_t> extents;
  for (std::size_t field = 1; field < structure.field_count(); ++field)
    if (const Value extent = structure.field(field).get(); extent.kind() == ValueKind::int_)
      extents.push_back(extent.as_int());
  return extents;
}

std::string dense_text(Structure& structure, DenseLayout layout) {
  const Value elements = structure.field(0).get();
  std::vector<std::int64_t> extents = dense_extents(structure);
  if (elements.kind() != ValueKind::array || extents.size() + 1 != structure.field_count()) return "?";
  return DenseText(elements.as_array(), std::move(extents), layout).run();
}

}  // namespace raddle::vm
