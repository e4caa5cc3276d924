#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "compiler/ir/module.hpp"

namespace raddle::ints {

/// `base + offset`; without a base a number. Sums of two offsets do not overflow.
struct IntSum {
  std::optional<ir::Operand> base = {};
  std::int64_t offset = 0;
  bool operator==(const IntSum&) const = default;
};

/// The operation calls this function of the library.
bool is_called(const ir::Op& op, std::string_view name);

/// A number of less than 2^61. @return none: it is no such constant
std::optional<std::int64_t> int_constant(const ir::Module& module, ir::Operand operand);

/// What is made of the sums. Nobody may take an index for proven by the count of a slice: if that is not in the array,
/// its view is none, and what would be read there lies in the array all the same.
enum class SumsOf : std::uint8_t { indices, counts };

/// What an operand is if it is there at all: an overflow, or an extent that does not fit, has failed where it is
/// computed.
/// @param maker  what assigns a variable, if one operation does
/// @param calls  so many calls in each other are followed: their shapes are mostly those of what they are given
IntSum int_sum(const ir::Module& module, ir::Operand operand, const std::function<const ir::Op*(ir::Operand)>& maker,
               SumsOf of, unsigned calls = 4);

}  // namespace raddle::ints
