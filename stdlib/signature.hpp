#pragma once
// What a line of builtins.def says of a function's inputs and outputs (Note [signatures] there), read once, when Raddle
// is built.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace raddle::stdlib {

/// At most N of them, in place: a signature is constant data.
template <typename T, std::size_t N>
class Few {
 public:
  constexpr void push_back(T item) { items_.at(size_++) = item; }
  constexpr const T& operator[](std::size_t i) const { return items_[i]; }
  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }
  constexpr const T& back() const { return items_[size_ - 1]; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }

 private:
  std::array<T, N> items_ = {};
  std::uint8_t size_ = 0;
};

enum class BasicType : std::uint8_t {
  int_,
  float_,
  string,
  boolean,
  int32,
  float32,
  void_,
  blob,
  file,
  url,
  updateable_float,
  variable
};

struct NamedType {
  BasicType basic = BasicType::void_;
  char variable = 0;  ///< variable: its letter
  constexpr bool operator==(const NamedType&) const = default;
};

/// `T[K][L]`, `bag<T>`
struct SignatureType {
  NamedType element;
  bool is_bag = false;
  bool is_existing = false;  ///< !: a file that is there already
  Few<NamedType, 2> keys;    ///< the outermost first
  constexpr bool is(BasicType basic) const { return element.basic == basic && !is_bag && keys.empty(); }
};

/// What an input must be before the function may be called.
enum class InputMark : std::uint8_t {
  none,       ///< there, with all that is in it
  closed,     ///< &: an array that is closed, a file that has its name
  reference,  ///< &&: there; an array may still grow
};

/// Letters of the signature's text. Not a string_view: that would be an address, to be filled in at each start.
struct SignatureSlice {
  std::uint8_t begin = 0;
  std::uint8_t size = 0;
  constexpr std::string_view of(std::string_view text) const { return text.substr(begin, size); }
};

struct SignatureInput {
  Few<SignatureType, 6> alternatives;  ///< more than one: a union
  InputMark mark = InputMark::none;
  SignatureSlice name;
  bool has_default = false;
  SignatureSlice default_value;  ///< a literal of the input's type; of a string without the quotes
};

struct BuiltinSignature {
  Few<SignatureType, 3> outputs;
  Few<SignatureInput, 9> inputs;
  bool has_varargs = false;        ///< the last input stands for any number
  bool has_process_count = false;  ///< the last input is how many processes it uses: what `@par` before a call says

  /// Objects of the caller that it writes: its leading arguments, and none of its results.
  constexpr std::size_t file_output_count() const {
    return static_cast<std::size_t>(std::ranges::count_if(outputs, is_written));
  }
  static constexpr bool is_written(const SignatureType& output) {
    return (output.is(BasicType::file) || output.is(BasicType::url)) && !output.is_existing;
  }
  constexpr bool returns_existing_files() const { return std::ranges::any_of(outputs, &SignatureType::is_existing); }
  constexpr bool gives_nothing() const { return outputs.size() == 1 && outputs[0].is(BasicType::void_); }

  /// @param input  counted without the files that it writes
  constexpr InputMark mark(std::size_t input) const {
    return inputs.empty() ? InputMark::none : inputs[std::min(input, inputs.size() - 1)].mark;
  }
  /// A union does not count.
  constexpr bool takes(BasicType type) const {
    return std::ranges::any_of(inputs, [&](const SignatureInput& input) {
      return input.alternatives.size() == 1 && input.alternatives[0].is(type);
    });
  }
  /// Of that file or url it uses the name only.
  constexpr bool uses_name_of(BasicType type) const {
    return mark(0) == InputMark::closed && inputs[0].alternatives[0].is(type);
  }
  /// It looks at an array as it is at the time of the call.
  constexpr bool looks_at_growing_array() const {
    return std::ranges::find(inputs, InputMark::reference, &SignatureInput::mark) != inputs.end();
  }
};

}  // namespace raddle::stdlib
