// Messages, as message.hpp has them:
//
// 'c' a call: module or file, function, folder in which it is looked for; from how many bytes on arrays are shared; how
//     many inputs, then each: 'i' or 'n' number, 'f' or 'g' the bytes of a double, 'b' number, 's' text, or 'a' letter
//     of the elements, how many extents, extents, and 'd' bytes or 'm' 2, offset in the shared memory, bytes; how many
//     outputs, then each: name, letter, of arrays letter of the elements, how many extents, those that it is to have or
//     -1
// 'p' how many places, offsets in the shared memory: where results are to go        'n' there is no memory for them
//
// 'r' results: numbers, texts; of arrays the extents, then 'd' bytes, or 'm': it waits for its place
// 'e' text of an error             'x' text of an exception, the traceback
#include "vm/foreign/served_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>

#include "vm/foreign/message.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/value/array.hpp"
#include "vm/value/string_limit.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t any_extent = -1;

char letter_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::int_: return 'i';
    case ValueKind::float_: return 'f';
    case ValueKind::boolean: return 'b';
    case ValueKind::int32: return 'n';
    case ValueKind::float32: return 'g';
    case ValueKind::string: return 's';
    case ValueKind::array: return 'a';
    case ValueKind::none:
    case ValueKind::void_:
    case ValueKind::bag:
    case ValueKind::structure:
    case ValueKind::file:
    case ValueKind::blob:
    case ValueKind::updateable:
    case ValueKind::failure: break;
  }
  return 0;
}

std::size_t block_bytes(std::size_t numbers_bytes) { return Buffer::header_bytes + numbers_bytes; }

void* numbers_at(const SharedBlocks::Block& block) {
  return static_cast<std::byte*>(block.address) + Buffer::header_bytes;
}

/// Where there are no integers of 64 bits. The least one of 32 bits is an NA in R.
bool is_narrow(std::int64_t number) {
  return number > std::numeric_limits<std::int32_t>::min() && number <= std::numeric_limits<std::int32_t>::max();
}

/// As are all integers between.
bool is_exact_double(std::int64_t number) {
  constexpr std::int64_t greatest = std::int64_t{1} << std::numeric_limits<double>::digits;
  return -greatest <= number && number <= greatest;
}

std::string no_form_text(const ForeignFormal& formal, std::int64_t number, const ServedLanguage& language) {
  return fmt::format("input `{}` can not be {} in {}: integers have 32 bits there, and doubles are exact up to 2^53",
                     formal.name, number, language.name);
}

/// @param extents  of a dense array; none: a growing one of `count` elements
void put_head(std::string& to, ValueKind element, std::size_t count, std::span<const Value> extents) {
  to += 'a';
  to += letter_of(element);
  put(to, static_cast<std::int64_t>(std::max<std::size_t>(extents.size(), 1)));
  if (extents.empty()) put(to, static_cast<std::int64_t>(count));
  for (const Value& extent : extents) put(to, extent.as_int());
}

void put_bytes(std::string& to, const void* numbers, std::size_t bytes) {
  to += 'd';
  put(to, std::string_view(static_cast<const char*>(numbers), bytes));
}

/// Any byte but 0 is true.
void make_canonical(Buffer& numbers) {
  if (numbers.kind() != ValueKind::boolean) return;
  auto* const bytes = static_cast<std::uint8_t*>(numbers.at_index(0));
  std::transform(bytes, bytes + numbers.count(), bytes, [](std::uint8_t one) { return one != 0 ? 1 : 0; });
}

}  // namespace

FunctionExchange::~FunctionExchange() {
  for (const Shared& each : copies_) SharedBlocks::give_back(each.block, each.bytes);
  for (const Waiting& each : waiting_)
    if (each.copy) SharedBlocks::give_back(each.copy->block, each.copy->bytes);
}

FunctionExchange::Shared FunctionExchange::share(std::size_t bytes) {
  return {SharedBlocks::take(block_bytes(bytes)), block_bytes(bytes)};
}

// ---------------------------------------------------------------- request

std::expected<std::string, std::string> FunctionExchange::request(std::span<const Value> inputs) {
  std::size_t wanted_count = 0;
  for (const ForeignFormal& output : function_.outputs) wanted_count += output.rank;
  std::string message = "c";
  put(message, function_.library);
  put(message, function_.code);
  put(message, (std::filesystem::current_path() / function_.version).lexically_normal().string());
  put(message, shares_memory() ? static_cast<std::int64_t>(SharedBlocks::least_bytes)
                               : std::numeric_limits<std::int64_t>::max());
  std::string arguments;
  std::int64_t count = 0;
  std::span<const Value> rest = inputs.first(inputs.size() - wanted_count);
  for (std::size_t i = 0; !rest.empty(); i = inputs.size() - wanted_count - rest.size()) {
    if (rest[0].kind() == ValueKind::void_) {  // only waited for
      rest = rest.subspan(1);
      continue;
    }
    try {
      if (std::string problem = put_input(arguments, function_.inputs[i], rest); !problem.empty())
        return std::unexpected(std::move(problem));
    } catch (const std::bad_alloc&) {
      return std::unexpected(fmt::format("there is no memory for what is sent to {}", language_.name));
    }
    ++count;
  }
  put(message, count);
  message += arguments;
  put_outputs(message, inputs.last(wanted_count));
  return message;
}

/// Takes off `inputs` what it has put.
std::string FunctionExchange::put_input(std::string& to, const ForeignFormal& formal, std::span<const Value>& inputs) {
  const Value& value = inputs[0];
  const std::span<const Value> extents = inputs.subspan(1, formal.rank);
  inputs = inputs.subspan(1 + formal.rank);
  if (value.kind() == ValueKind::array) return put_array(to, formal, value.as_array(), extents);
  if (value.kind() == ValueKind::int_ || value.kind() == ValueKind::int32) return put_int(to, formal, value);
  to += letter_of(value.kind());
  switch (value.kind()) {
    case ValueKind::float_:
    case ValueKind::float32: put(to, std::bit_cast<std::int64_t>(value.as_float())); return {};
    case ValueKind::boolean: put(to, std::int64_t{value.as_bool()}); return {};
    case ValueKind::string:
      if (!language_.has_zero_bytes_in_texts && value.as_string().contains('\0'))
        return fmt::format("input `{}` has a byte 0, which texts of {} can not have", formal.name, language_.name);
      put(to, value.as_string());
      return {};
    case ValueKind::int_:
    case ValueKind::int32:
    case ValueKind::none:
    case ValueKind::void_:
    case ValueKind::array:
    case ValueKind::bag:
    case ValueKind::structure:
    case ValueKind::file:
    case ValueKind::blob:
    case ValueKind::updateable:
    case ValueKind::failure: break;
  }
  return fmt::format("input `{}` has no form in {}", formal.name, language_.name);
}

std::string FunctionExchange::put_int(std::string& to, const ForeignFormal& formal, const Value& value) {
  const std::int64_t number = value.as_int();
  if (language_.has_wide_integers || is_narrow(number)) {
    to += language_.has_wide_integers ? letter_of(value.kind()) : letter_of(ValueKind::int32);
    put(to, number);
    return {};
  }
  if (!is_exact_double(number)) return no_form_text(formal, number, language_);
  to += letter_of(ValueKind::float_);
  put(to, std::bit_cast<std::int64_t>(static_cast<double>(number)));
  return {};
}

std::string FunctionExchange::put_array(std::string& to, const ForeignFormal& formal, Array& array,
                                        std::span<const Value> extents) {
  const ValueKind kind = formal.type.element.at(0).kind;
  std::size_t count = 0;
  const void* const numbers = array.packed(count);
  if (numbers == nullptr && array.size() != 0)
    return fmt::format("input `{}` must have the keys 0 to {}: {} gets its elements side by side", formal.name,
                       array.size() - 1, language_.name);
  if (!language_.has_wide_integers && kind == ValueKind::int_)
    return put_narrowed(to, formal, std::span(static_cast<const std::int64_t*>(numbers), count), extents);
  if (!language_.has_wide_integers && kind == ValueKind::int32)
    return put_narrowed(to, formal, std::span(static_cast<const std::int32_t*>(numbers), count), extents);
  put_head(to, kind, count, extents);
  const std::size_t bytes = count * Buffer::size_of(kind);
  const Buffer* const packed = array.packed_numbers();
  if (packed != nullptr) packed->use_if_small();
  if (bytes < SharedBlocks::least_bytes || !shares_memory()) {
    put_bytes(to, numbers, bytes);
    return {};
  }
  std::optional<std::int64_t> offset = packed != nullptr ? packed->shared_offset() : std::nullopt;
  if (!offset) {
    if (!fits_in_memory(static_cast<double>(bytes)))
      return no_memory_text("a copy of the array `" + formal.name + "`", static_cast<double>(bytes));
    const Shared& copy = copies_.emplace_back(share(bytes));
    std::memcpy(numbers_at(copy.block), numbers, bytes);
    offset = copy.block.offset;
  }
  to += 'm';
  put(to, std::int64_t{2});
  put(to, *offset);
  put(to, static_cast<std::int64_t>(bytes));
  return {};
}

/// As integers of 32 bits if all of them fit, else as doubles.
template <typename Int>
std::string FunctionExchange::put_narrowed(std::string& to, const ForeignFormal& formal, std::span<const Int> numbers,
                                           std::span<const Value> extents) {
  if (std::ranges::all_of(numbers, is_narrow)) {
    const std::vector<std::int32_t> narrow(numbers.begin(), numbers.end());
    put_head(to, ValueKind::int32, narrow.size(), extents);
    put_bytes(to, narrow.data(), narrow.size() * sizeof narrow[0]);
    return {};
  }
  const auto inexact = std::ranges::find_if_not(numbers, is_exact_double);
  if (inexact != numbers.end()) return no_form_text(formal, *inexact, language_);
  const std::vector<double> doubles(numbers.begin(), numbers.end());
  put_head(to, ValueKind::float_, doubles.size(), extents);
  put_bytes(to, doubles.data(), doubles.size() * sizeof doubles[0]);
  return {};
}

void FunctionExchange::put_outputs(std::string& to, std::span<const Value> wanted) {
  std::string outputs;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < function_.outputs.size(); i += 1 + function_.outputs[i].rank) {
    const ForeignFormal& output = function_.outputs[i];
    if (output.type.kind == ValueKind::void_) continue;
    ++count;
    put(outputs, output.name);
    outputs += letter_of(output.type.kind);
    if (output.rank == 0) continue;
    outputs += letter_of(output.type.element.at(0).kind);
    put(outputs, std::int64_t{output.rank});
    for (const Value& extent : wanted.first(output.rank)) put(outputs, extent.as_int());
    wanted = wanted.subspan(output.rank);
  }
  put(to, count);
  to += outputs;
}

// ---------------------------------------------------------------- answers

std::optional<std::string> FunctionExchange::go_on(const std::string& answer) {
  if (has_results_ || answer.empty() || answer[0] != 'r') return std::nullopt;
  has_results_ = true;
  try {
    return take_results(answer);
  } catch (const std::bad_alloc&) {
    problem_ = "there is no memory for its results";
  }
  return "n";
}

std::optional<std::string> FunctionExchange::take_results(const std::string& answer) {
  MessageReader reader(std::string_view(answer).substr(1));
  outputs_.resize(function_.outputs.size());
  for (std::size_t i = 0; i < outputs_.size(); i += 1 + function_.outputs[i].rank) {
    switch (function_.outputs[i].type.kind) {
      case ValueKind::int_: outputs_[i] = Value::of(reader.number()); break;
      case ValueKind::float_: outputs_[i] = Value::of(std::bit_cast<double>(reader.number())); break;
      case ValueKind::boolean: outputs_[i] = Value::of(reader.number() != 0); break;
      case ValueKind::int32: outputs_[i] = Value::of_int32(static_cast<std::int32_t>(reader.number())); break;
      case ValueKind::float32:
        outputs_[i] = Value::of_float32(static_cast<float>(std::bit_cast<double>(reader.number())));
        break;
      case ValueKind::string: outputs_[i] = Value::of(std::string(reader.text())); break;
      case ValueKind::array:
        if (!take_array(reader, i)) return "n";
        break;
      case ValueKind::none:
      case ValueKind::void_:
      case ValueKind::bag:
      case ValueKind::structure:
      case ValueKind::file:
      case ValueKind::blob:
      case ValueKind::updateable:
      case ValueKind::failure: outputs_[i] = Value::of_void();
    }
    if (outputs_[i].kind() == ValueKind::string && outputs_[i].as_string().size() > longest_string)
      problem_ = too_long_text(outputs_[i].as_string().size());
  }
  if (!reader.is_ok()) problem_ = "its answer makes no sense";
  if (waiting_.empty()) return std::nullopt;
  std::string places = "p";
  put(places, static_cast<std::int64_t>(waiting_.size()));
  for (const Waiting& each : waiting_)
    put(places, each.copy ? each.copy->block.offset : *each.numbers->shared_offset());
  return places;
}

/// @return false: there is no memory for it, or the answer makes no sense
bool FunctionExchange::take_array(MessageReader& reader, std::size_t output) {
  const ForeignFormal& formal = function_.outputs[output];
  const ValueKind kind = formal.type.element.at(0).kind;
  double bytes = static_cast<double>(Buffer::size_of(kind));
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < formal.rank; ++axis) {
    const std::int64_t extent = reader.number();
    outputs_[output + 1 + axis] = Value::of(extent);
    bytes *= static_cast<double>(extent);
    count *= static_cast<std::size_t>(extent);
  }
  const char place = reader.letter();
  const bool is_shared = place == 'm';
  if (!reader.is_ok() || bytes < 0 || (!is_shared && place != 'd')) {
    problem_ = "its answer makes no sense";
    return false;
  }
  if (!fits_in_memory(bytes)) {
    problem_ = no_memory_text("the array `" + formal.name + "`", bytes);
    return false;
  }
  Buffer::Owner numbers = Buffer::make(kind, count);
  const std::size_t size = count * Buffer::size_of(kind);
  if (is_shared) {
    std::optional<Shared> copy;
    if (!numbers->shared_offset()) copy = share(size);
    waiting_.push_back({output, std::move(numbers), copy});
    return true;
  }
  const std::string_view sent = reader.text();
  if (sent.size() != size) {
    problem_ = "its answer makes no sense";
    return false;
  }
  sent.copy(static_cast<char*>(numbers->at_index(0)), size);
  make_canonical(*numbers);
  outputs_[output] = Value::of_object(ValueKind::array, Array::packed_of(std::move(numbers)));
  return true;
}

std::expected<std::vector<Value>, FunctionExchange::Problem> FunctionExchange::finish(const std::string& answer) {
  MessageReader reader(answer);
  const char kind = reader.letter();
  if (kind == 'e' || kind == 'x') {
    Problem problem{std::string(reader.text())};
    std::string_view trace = kind == 'x' ? reader.text() : std::string_view();
    while (!trace.empty()) {
      const std::string_view line = trace.substr(0, trace.find('\n'));
      if (!line.empty()) problem.notes.details.emplace_back(line);
      trace.remove_prefix(std::min(trace.size(), line.size() + 1));
    }
    return std::unexpected(std::move(problem));
  }
  if (!problem_.empty() || !has_results_)
    return std::unexpected(Problem{has_results_ ? problem_ : "its answer makes no sense"});
  for (Waiting& each : waiting_) {
    Buffer& numbers = *each.numbers;
    if (each.copy)
      std::memcpy(numbers.at_index(0), numbers_at(each.copy->block), numbers.count() * Buffer::size_of(numbers.kind()));
    make_canonical(numbers);
    outputs_[each.output] = Value::of_object(ValueKind::array, Array::packed_of(std::move(each.numbers)));
  }
  return std::move(outputs_);
}

}  // namespace raddle::vm
