#pragma once
// Ranges of numbers that a parameter goes through: counted in decimal, or spaced between two floats.
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "compiler/tool/formats/argument_error.hpp"
#include "compiler/tool/space/quad.hpp"
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

/// `lin(from, to, count)` and `log(from, to, count)`: both ends are values. Each is the float that is nearest to what
/// it is in decimal, with as many digits as tell it from others: lin(0,1,11) has 0.3, too.
struct SpacedRange {
  /// `mantissa * 10^exponent`, which is the shortest text of a float.
  struct End {
    std::int64_t mantissa = 0;
    long exponent = 0;
  };
  End from, to;
  bool is_logarithmic = false;
  std::uint64_t count = 0;
  Quad log_from = 0, log_to = 0;  ///< of a logarithmic one
};

std::string text_at(const DecimalRange& range, std::uint64_t index);
std::string text_at(const SpacedRange& range, std::uint64_t index);
/// All values are whole numbers that are written as ints.
bool is_whole(const SpacedRange& range);

/// @param parts  of `whole`, at its colons
std::expected<DecimalRange, ArgumentError> parse_range(const Part& whole, const std::vector<Part>& parts);
/// @param call  of `lin` or `log`
std::expected<SpacedRange, ArgumentError> parse_spaced(const Part& whole, const FunctionCall& call);

}  // namespace raddle::sweep
