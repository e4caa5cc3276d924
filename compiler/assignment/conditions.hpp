#pragma once
// What is known where a condition is so: two assignments under conditions that exclude each other are one.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/check/constant_value.hpp"
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// How the value on the left lies to the one on the right. Variables are named by their ids: as each keeps its value,
/// equal texts mean equal values. That a boolean is so is that it is equal to `true`.
struct Fact {
  enum Relation : std::uint8_t { less = 1, equal = 2, more = 4 };

  std::string left;
  std::string right;
  std::uint8_t relations = equal;               ///< one of these is so
  std::optional<ConstantValue> constant = {};   ///< what is on the right
  VariableId left_variable = ast::no_variable;  ///< what is on the left, if it is one
  VariableId right_variable = ast::no_variable;
  std::vector<VariableId> variables = {};  ///< those in both
  bool is_whole = false;                   ///< both are of type int

  bool is_equality() const { return relations == equal; }
};

/// All of them are so.
using Facts = std::vector<Fact>;

struct Condition {
  std::vector<Facts> cases = {{}};  ///< where it is so, so is one of these at least
  bool is_exact = false;            ///< and where one of these is so, it is, too
};

/// What is so without any condition.
inline Condition always() { return {.cases = {{}}, .is_exact = true}; }
Condition both(Condition one, const Condition& other);

/// What is left of it where only variables of which `is_known` is so keep their values.
Condition known_part(Condition condition, const std::function<bool(VariableId)>& is_known);

/// What `condition` being true, or being false, tells. Nothing for calls: they may give another value each time.
Condition condition_of(const Context& context, const ast::Expr& condition, bool truth);
/// What a `case` with this label tells; without one, the `default` of `written`.
Condition condition_of_case(const Context& context, const ast::Switch& written, const ast::Switch::Case& choice);

/// Not both can be so.
bool exclude_each_other(const Condition& one, const Condition& other);
/// Where `known` is so, so are all facts of one of `cases` at least.
bool one_is_so(const std::vector<Facts>& cases, const Condition& known);
/// The fact is that the variable has the value of a constant.
bool pins(const Fact& fact, VariableId variable);
/// The fact is that the variable is equal to something it is no part of.
bool equals(const Fact& fact, VariableId variable);
/// The value, if the fact is that the variable has it.
std::optional<std::int64_t> pinned_value(const Fact& fact, VariableId variable);

}  // namespace raddle::check_detail
