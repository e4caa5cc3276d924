#include "compiler/tool/repl/show_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/source/string_literal.hpp"
#include "compiler/tool/terminal/text_width.hpp"
#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/dense.hpp"
#include "vm/value/failure.hpp"
#include "vm/value/file.hpp"
#include "vm/value/shown_text.hpp"
#include "vm/value/structure.hpp"
#include "vm/value/text.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::tool::repl {

namespace {

using terminal::text_width;
using vm::Value;
using vm::ValueKind;

// Of collections that have more elements than `most_shown`, so many are shown.
constexpr std::size_t most_shown = 24, shown_first = 8, shown_last = 3;
constexpr std::int64_t most_of_dense = 200;
constexpr std::size_t longest_string = 400;  // bytes of a string inside of something
constexpr int deepest = 8;

struct Element {
  Value key, value;
};

/// The elements to be shown, in order.
struct Extract {
  std::vector<Element> elements;
  std::size_t count = 0;                                                             ///< of all
  bool has_keys = false;                                                             ///< others than 0, 1, 2...
  std::size_t cut() const { return elements.size() < count ? shown_first : count; }  ///< where some are left out
};

class Collecting {
 public:
  void add(const Value& key, const Value& value) {
    const bool is_next = key.kind() == ValueKind::none ||
                         (key.kind() == ValueKind::int_ && key.as_int() == static_cast<std::int64_t>(all_.count));
    all_.has_keys = all_.has_keys || !is_next;
    ++all_.count;
    if (all_.elements.size() < most_shown)
      all_.elements.push_back({key, value});
    else
      last_[(all_.count - 1) % shown_last] = {key, value};
  }
  Extract take() {
    if (all_.count <= most_shown) return std::move(all_);
    // the last ones: from the ring, or, if it is not full yet, of those that were kept first
    std::vector<Element> end;
    for (std::size_t i = all_.count - shown_last; i < all_.count; ++i)
      end.push_back(i < most_shown ? all_.elements[i] : last_[i % shown_last]);
    all_.elements.resize(shown_first);
    all_.elements.insert(all_.elements.end(), end.begin(), end.end());
    return std::move(all_);
  }

 private:
  Extract all_;
  Element last_[shown_last];
};

Extract extract(const Value& collection) {
  Collecting collecting;
  if (collection.kind() == ValueKind::array)
    collection.as_array().for_each([&](const Value& key, const Value& value) { collecting.add(key, value); });
  else
    collection.as_bag().for_each([&](const Value& value) { collecting.add({}, value); });
  return collecting.take();
}

std::string cut_and_quoted(std::string_view text) {
  const bool is_cut = text.size() > longest_string;
  if (is_cut) {
    text = text.substr(0, longest_string);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.remove_suffix(1);
    if (!text.empty()) text.remove_suffix(1);
  }
  std::string result = string_literal(text);
  if (is_cut) result.insert(result.size() - 1, "...");
  return result;
}

std::string shown_key(const Value& key) {
  return key.kind() == ValueKind::string ? cut_and_quoted(key.as_string()) : vm::key_text(key);
}

std::string brief(const Value& value, int depth);

std::string brief_structure(const Value& value, int depth) {
  vm::Structure& structure = value.as_structure();
  if (vm::is_dense(structure)) return fmt::format("array of {}", fmt::join(vm::dense_extents(structure), " x "));
  std::string text = "{";
  for (std::size_t i = 0; i < structure.field_count(); ++i)
    text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", structure.field_name(i),
                        brief(structure.field(i).get(), depth + 1));
  return text + "}";
}

/// The parts of a collection as words, `...` among them.
std::vector<std::string> words_of(const Extract& all, int depth) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < all.elements.size(); ++i) {
    if (i == all.cut()) words.emplace_back("...");
    const Element& each = all.elements[i];
    const std::string text = brief(each.value, depth + 1);
    words.push_back(all.has_keys ? fmt::format("{}: {}", shown_key(each.key), text) : text);
  }
  return words;
}

/// In one line.
std::string brief(const Value& value, int depth) {
  if (depth > deepest) return "...";
  switch (value.kind()) {
    case ValueKind::none: return "?";
    case ValueKind::void_: return "void";
    case ValueKind::int_:
    case ValueKind::float_:
    case ValueKind::int32:
    case ValueKind::float32: return vm::to_text(value);
    case ValueKind::boolean: return value.as_bool() ? "true" : "false";
    case ValueKind::string: return cut_and_quoted(value.as_string());
    case ValueKind::array:
    case ValueKind::bag: {
      const Extract all = extract(value);
      const bool is_map = all.has_keys;
      return fmt::format("{}{}{}{}", value.kind() == ValueKind::bag ? "bag " : "", is_map ? "{" : "[",
                         fmt::join(words_of(all, depth), ", "), is_map ? "}" : "]");
    }
    case ValueKind::structure: return brief_structure(value, depth);
    case ValueKind::file: return fmt::format("file {}", cut_and_quoted(value.as_file().path()));
    case ValueKind::blob: return fmt::format("blob of {} bytes", value.as_bytes().size());
    case ValueKind::updateable: return "updateable " + vm::float_text(value.as_updateable().get());
    case ValueKind::failure: return "failed: " + vm::as_failure(value).message;
  }
  return "";
}

// ---------------------------------------------------------------- tables

std::string cell_of(const Value& value) {
  const bool is_line = value.kind() == ValueKind::string && !value.as_string().contains('\n');
  return is_line ? vm::shown_text(value.as_string()) : brief(value, 1);
}

bool is_number(const Value& value) { return vm::is_number(value.kind()) && value.kind() != ValueKind::boolean; }

std::string table(const Extract& all) {
  const vm::Structure& shape = all.elements.front().value.as_structure();
  std::vector<std::vector<std::string>> rows(1);
  std::vector<bool> is_right{true};
  rows[0].emplace_back("");
  for (std::size_t i = 0; i < shape.field_count(); ++i) {
    rows[0].push_back(shape.field_name(i));
    is_right.push_back(is_number(all.elements.front().value.as_structure().field(i).get()));
  }
  for (std::size_t i = 0; i < all.elements.size(); ++i) {
    if (i == all.cut()) rows.emplace_back(rows[0].size(), "...");
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(shown_key(all.elements[i].key));
    for (std::size_t k = 0; k < shape.field_count(); ++k)
      row.push_back(cell_of(all.elements[i].value.as_structure().field(k).get()));
  }
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string fill(widths[i] - text_width(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (is_right[i] ? fill + row[i] : row[i] + fill);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += (text.empty() ? "" : "\n") + line;
  }
  if (all.elements.size() < all.count) text += fmt::format("\n({} rows)", all.count);
  return text;
}

bool are_structures(const Extract& all) {
  return !all.elements.empty() && std::ranges::all_of(all.elements, [](const Element& each) {
    return each.value.kind() == ValueKind::structure;
  });
}

/// Words in lines of at most `width`, with brackets around.
std::string wrapped(const std::vector<std::string>& words, char open, char close, std::size_t width) {
  std::string text(1, open), line;
  std::size_t used = 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_last = i + 1 == words.size();
    const std::string word = words[i] + (is_last ? std::string(1, close) : ",");
    const std::size_t taken = text_width(word) + 1;
    if (used > 1 && used + taken > width) {
      text += "\n ";
      used = 1;
    } else if (used > 1) {
      text += ' ';
    }
    text += word;
    used += taken;
  }
  return words.empty() ? text + close : text;
}

std::string collection(const Value& value, std::size_t width) {
  const Extract all = extract(value);
  if (are_structures(all)) return table(all);
  const bool is_nested =
      std::ranges::any_of(all.elements, [](const Element& each) { return each.value.kind() == ValueKind::array; });
  std::string text = value.kind() == ValueKind::bag ? "bag " : "";
  std::vector<std::string> words = words_of(all, 0);
  // rows of a matrix stand below each other
  const std::size_t line = is_nested && words.size() > 1 ? 1 : width;
  text += wrapped(words, all.has_keys ? '{' : '[', all.has_keys ? '}' : ']', line);
  if (all.elements.size() < all.count) text += fmt::format("  ({} elements)", all.count);
  return text;
}

}  // namespace

std::string show_value(const Value& value, std::size_t width) {
  if (value.kind() == ValueKind::structure && vm::is_dense(value.as_structure())) {
    const std::vector<std::int64_t> extents = vm::dense_extents(value.as_structure());
    return fmt::format("{}  ({})", vm::dense_text(value.as_structure(), {.most = most_of_dense, .columns = width}),
                       fmt::join(extents, " x "));
  }
  if (value.kind() == ValueKind::array || value.kind() == ValueKind::bag) return collection(value, width);
  return brief(value, 0);
}

}  // namespace raddle::tool::repl
