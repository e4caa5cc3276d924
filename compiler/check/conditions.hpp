#pragma once
// What is known where a condition is so: two assignments under conditions that exclude each other are one.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// `subject` has this value. Variables are named by their ids: as each keeps its value, equal texts mean equal values.
struct Fact {
  std::string subject;
  std::string value;
  bool operator==(const Fact&) const = default;
};

struct Condition {
  std::vector<Fact> facts;                ///< all of them are so
  std::optional<std::vector<Fact>> same;  ///< some that are all so if and only if the condition is
};

/// What `condition` being true, or being false, tells. Nothing for calls: they may give another value each time.
Condition condition_of(const Context& context, const ast::Expr& condition, bool truth);
/// What a `case` with this label tells; without one, the `default` of `written`.
Condition condition_of_case(const Context& context, const ast::Switch& written, const ast::Switch::Case& choice);

/// Not both can be so.
bool exclude_each_other(const std::vector<Fact>& one, const std::vector<Fact>& other);
/// Where all of `known` is so, so are all facts of one of `cases` at least.
bool one_is_so(std::vector<std::vector<Fact>> cases, const std::vector<Fact>& known);
/// The facts are so for one value of the variable only.
bool pins(const std::vector<Fact>& facts, VariableId variable);
/// The other variable, if the fact is that both are equal.
std::optional<VariableId> equal_variable(const Fact& fact, VariableId variable);
/// The value, if the fact is that the variable has it.
std::optional<std::int64_t> pinned_value(const Fact& fact, VariableId variable);

}  // namespace raddle::check_detail
