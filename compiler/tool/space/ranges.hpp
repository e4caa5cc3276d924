#pragma once
// Ranges of numbers that a parameter goes through: counted in decimal, or spaced between two floats.
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "compiler/tool/formats/argument_error.hpp"
#include "compiler/tool/formats/scan.hpp"

namespace raddle::sweep {

inline constexpr double most_values = 1e15;  ///< of one range

/// `from`, `from + step`, ... in decimal, all of them exact: 0:1:0.1 has 0.3 and not 0.30000000000000004. Each is
/// `mantissa * 10^-decimals`; whole ones are ints.
struct DecimalRange {
  __extension__ using Mantissa = __int128;
  Mantissa from = 0, step = 1;
  unsigned decimals = 0;
  std::uint64_t count = 0;
};

/// `lin(from, to, count)` and `log(from, to, count)`: both ends are values.
struct SpacedRange {
  double from = 0, to = 0;
  bool is_logarithmic = false;
  std::uint64_t count = 0;
};

std::string text_at(const DecimalRange& range, std::uint64_t index);
/// With 12 digits, or with all where values would else not lie as they should.
std::string text_at(const SpacedRange& range, std::uint64_t index);

/// @param parts  of `whole`, at its colons
std::expected<DecimalRange, ArgumentError> parse_range(const Part& whole, const std::vector<Part>& parts);
/// @param call  of `lin` or `log`
std::expected<SpacedRange, ArgumentError> parse_spaced(const Part& whole, const FunctionCall& call);

}  // namespace raddle::sweep
