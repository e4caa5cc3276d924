#include "vm/calls/kept_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/file.hpp"
#include "vm/value/hash.hpp"
#include "vm/value/structure.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {
namespace {

constexpr std::size_t longest_shown = 60;  // bytes of a text

/// First byte of a value: its kind; of arrays how their keys are written.
enum class Mark : char {
  void_ = 'v',
  int_ = 'i',
  float_ = 'f',
  boolean = 'b',
  int32 = 'n',
  float32 = 'g',
  string = 's',
  blob = 'o',
  file = 'p',
  dense = 'a',  ///< keys 0..n-1, not written
  keyed = 'k',
  bag = 'g',
  structure = 't',
};

using Outcome = std::expected<void, std::string>;

void append_word(std::string& bytes, std::uint64_t word) {
  bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
}
void append_mark(std::string& bytes, Mark mark) { bytes += static_cast<char>(mark); }

std::optional<std::uint64_t> take_word(std::string_view& bytes) {
  std::uint64_t word;
  if (bytes.size() < sizeof word) return std::nullopt;
  std::memcpy(&word, bytes.data(), sizeof word);
  bytes.remove_prefix(sizeof word);
  return word;
}

class Writer {
 public:
  Writer(std::string& bytes, const FileWriter& file) : bytes_(bytes), file_(file) {}

  Outcome write(const Value& value) {
    switch (value.kind()) {
      case ValueKind::void_: append_mark(bytes_, Mark::void_); return {};
      case ValueKind::int_: return number(Mark::int_, value);
      case ValueKind::float_: return number(Mark::float_, value);
      case ValueKind::boolean: return number(Mark::boolean, value);
      case ValueKind::int32: return number(Mark::int32, value);
      case ValueKind::float32: return number(Mark::float32, value);
      case ValueKind::string: return text(Mark::string, value.as_string());
      case ValueKind::blob: return text(Mark::blob, value.as_bytes());
      case ValueKind::array: return array(value.as_array());
      case ValueKind::bag: return bag(value.as_bag());
      case ValueKind::structure: return structure(value.as_structure());
      case ValueKind::file: {
        std::expected<std::string, std::string> name = file_(value.as_file());
        if (!name) return std::unexpected(std::move(name.error()));
        return text(Mark::file, *name);
      }
      case ValueKind::none:
      case ValueKind::updateable:
      case ValueKind::failure: break;
    }
    return std::unexpected("a value is not there");
  }

 private:
  Outcome number(Mark mark, const Value& value) {
    append_mark(bytes_, mark);
    append_word(bytes_, value.bits());
    return {};
  }
  Outcome text(Mark mark, std::string_view text) {
    append_mark(bytes_, mark);
    append_text(bytes_, text);
    return {};
  }

  Outcome array(const Array& array) {
    bool is_dense = true;
    std::int64_t next = 0;
    array.for_each([&](const Value& key, const Value&) {
      is_dense = is_dense && key.kind() == ValueKind::int_ && key.as_int() == next++;
    });
    append_mark(bytes_, is_dense ? Mark::dense : Mark::keyed);
    append_word(bytes_, array.size());
    Outcome outcome;
    array.for_each([&](const Value& key, const Value& value) {
      if (outcome && !is_dense) outcome = write(key);
      if (outcome) outcome = write(value);
    });
    return outcome;
  }

  Outcome bag(const Bag& bag) {
    std::vector<std::string> elements;
    Outcome outcome;
    bag.for_each([&](const Value& value) {
      if (outcome) outcome = append_value(elements.emplace_back(), value, file_);
    });
    std::ranges::sort(elements);
    append_mark(bytes_, Mark::bag);
    append_word(bytes_, elements.size());
    for (const std::string& element : elements) bytes_ += element;
    return outcome;
  }

  Outcome structure(Structure& structure) {
    append_mark(bytes_, Mark::structure);
    append_word(bytes_, structure.field_count());
    for (std::size_t i = 0; i < structure.field_count(); ++i)
      if (Outcome outcome = write(structure.field(i).get()); !outcome) return outcome;
    return {};
  }

  std::string& bytes_;
  const FileWriter& file_;
};

class Reader {
 public:
  Reader(std::string_view& bytes, const FileReader& file) : bytes_(bytes), file_(file) {}

  Value read(const ForeignType& type) {
    switch (type.kind) {
      case ValueKind::void_: return take(Mark::void_) ? Value::of_void() : Value();
      case ValueKind::int_: return number(Mark::int_, type.kind);
      case ValueKind::float_: return number(Mark::float_, type.kind);
      case ValueKind::boolean: return number(Mark::boolean, type.kind);
      case ValueKind::int32: return number(Mark::int32, type.kind);
      case ValueKind::float32: return number(Mark::float32, type.kind);
      case ValueKind::string:
        return text(Mark::string, [](std::string_view text) { return Value::of(std::string(text)); });
      case ValueKind::blob:
        return text(Mark::blob, [](std::string_view bytes) { return Value::of_blob(std::string(bytes)); });
      case ValueKind::file: return text(Mark::file, file_);
      case ValueKind::array: return array(type);
      case ValueKind::bag: return bag(type);
      case ValueKind::structure: return structure(type);
      case ValueKind::none:
      case ValueKind::updateable:
      case ValueKind::failure: break;
    }
    return {};
  }

 private:
  bool take(Mark mark) {
    if (!bytes_.starts_with(static_cast<char>(mark))) return false;
    bytes_.remove_prefix(1);
    return true;
  }

  Value number(Mark mark, ValueKind kind) {
    const std::optional<std::uint64_t> word = take(mark) ? take_word(bytes_) : std::nullopt;
    return word ? Value::from_bits(kind, *word) : Value();
  }

  template <typename Make>
  Value text(Mark mark, const Make& make) {
    const std::optional<std::string_view> text = take(mark) ? take_text(bytes_) : std::nullopt;
    return text ? make(*text) : Value();
  }

  /// @return none if there can not be so many: each takes a byte at least
  std::optional<std::uint64_t> count() {
    const std::optional<std::uint64_t> count = take_word(bytes_);
    return count && *count <= bytes_.size() ? count : std::nullopt;
  }

  Value array(const ForeignType& type) {
    const bool is_dense = take(Mark::dense);
    if (!is_dense && !take(Mark::keyed)) return {};
    const std::optional<std::uint64_t> elements = count();
    if (!elements) return {};
    const ForeignType key_type{.kind = type.key, .key = ValueKind::none, .element = {}};
    std::vector<Value> values;
    std::vector<std::pair<Value, Value>> entries;
    for (std::uint64_t i = 0; i < *elements; ++i) {
      Value key = is_dense ? Value::of_void() : read(key_type);
      Value value = read(type.element[0]);
      if (!key || !value) return {};
      if (is_dense)
        values.push_back(std::move(value));
      else
        entries.emplace_back(std::move(key), std::move(value));
    }
    return Value::of_object(ValueKind::array,
                            is_dense ? Array::dense(std::move(values)) : Array::keyed(std::move(entries)));
  }

  Value bag(const ForeignType& type) {
    const std::optional<std::uint64_t> elements = take(Mark::bag) ? count() : std::nullopt;
    if (!elements) return {};
    const Ref<Bag> bag = make_ref<Bag>(1);
    for (std::uint64_t i = 0; i < *elements; ++i) {
      Value value = read(type.element[0]);
      if (!value) return {};
      bag->append().init(std::move(value));
    }
    WakeList nobody;
    bag->release_writers(1, nobody);
    return Value::of_object(ValueKind::bag, bag);
  }

  Value structure(const ForeignType& type) {
    const std::optional<std::uint64_t> fields = take(Mark::structure) ? take_word(bytes_) : std::nullopt;
    if (fields != type.element.size()) return {};
    const Ref<Structure> structure = make_ref<Structure>(type.fields);
    for (std::size_t i = 0; i < type.element.size(); ++i) {
      Value value = read(type.element[i]);
      if (!value) return {};
      structure->field(i).init(std::move(value));
    }
    return Value::of_object(ValueKind::structure, structure);
  }

  std::string_view& bytes_;
  const FileReader& file_;
};

std::string short_hash(std::string_view bytes) { return fmt::format("#{:016x}", vm::hash(bytes).low); }

bool is_plain(std::string_view text) {
  return text.size() <= longest_shown &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '"' || c == 127; });
}

}  // namespace

Outcome append_value(std::string& bytes, const Value& value, const FileWriter& file) {
  return Writer(bytes, file).write(value);
}

Value take_value(std::string_view& bytes, const ForeignType& type, const FileReader& file) {
  return Reader(bytes, file).read(type);
}

void append_text(std::string& bytes, std::string_view text) {
  append_word(bytes, text.size());
  bytes += text;
}

std::optional<std::string_view> take_text(std::string_view& bytes) {
  const std::optional<std::uint64_t> size = take_word(bytes);
  if (!size || *size > bytes.size()) return std::nullopt;
  const std::string_view text = bytes.substr(0, *size);
  bytes.remove_prefix(*size);
  return text;
}

std::string shown_value(const Value& value, std::string_view bytes) {
  switch (value.kind()) {
    case ValueKind::void_: return "void";
    case ValueKind::int_:
    case ValueKind::float_:
    case ValueKind::boolean:
    case ValueKind::int32:
    case ValueKind::float32: return to_text(value);
    case ValueKind::string:
      if (is_plain(value.as_string())) return fmt::format("\"{}\"", value.as_string());
      return fmt::format("string, {} bytes, {}", value.as_string().size(), short_hash(bytes));
    case ValueKind::blob: return fmt::format("blob, {} bytes, {}", value.as_bytes().size(), short_hash(bytes));
    case ValueKind::array: return fmt::format("array, {} elements, {}", value.as_array().size(), short_hash(bytes));
    case ValueKind::bag: return fmt::format("bag, {} elements, {}", value.as_bag().size(), short_hash(bytes));
    case ValueKind::structure: return fmt::format("structure, {}", short_hash(bytes));
    case ValueKind::file:
      if (value.as_file().is_named()) return fmt::format("file \"{}\", {}", value.as_file().path(), short_hash(bytes));
      return fmt::format("file, {}", short_hash(bytes));
    case ValueKind::none:
    case ValueKind::updateable:
    case ValueKind::failure: break;
  }
  return "?";
}

}  // namespace raddle::vm
