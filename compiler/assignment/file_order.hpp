#pragma once
// Which of two files with one path is written after which, as far as the data tell.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/assignment/variable_use.hpp"

namespace raddle::check_detail {

enum class FileOrder : std::uint8_t {
  unrelated,  ///< nothing that is written for the later one reads the earlier one
  perhaps,    ///< branches, functions or elements of arrays are between them
  surely,
};

class FileOrders {
 public:
  FileOrders(const Context& context, const std::vector<VariableUse>& all) : context_(context), all_(all) {}

  /// Whether `later` is written when `earlier` has been.
  FileOrder of(VariableId earlier, VariableId later);
  /// Whether each iteration of a loop around a file waits until the one before has written it. The loop is a `for` or
  /// `iterate`. @param loop_depth  number of loops around its body
  bool follows_itself(VariableId file, std::size_t loop_depth);
  /// Where `earlier` is read and it is not sure that `later` is written after that; they may be one file, of two
  /// iterations: then of the loop with this depth.
  std::optional<Span> late_read(VariableId earlier, VariableId later, std::size_t loop_depth = 0) {
    return late_read(earlier, past(later, loop_depth));
  }

  /// All that has surely happened when a file is written.
  struct Past {
    std::set<VariableId> variables;                           ///< that had a value
    std::set<std::pair<std::uint32_t, std::uint32_t>> at;     ///< where they were read: file, begin
    std::map<const ast::Call*, std::set<std::size_t>> calls;  ///< and which of their outputs had values
  };
  /// Whose first values count: those that the first iteration has.
  enum class First : std::uint8_t {
    none,
    of_conditions,  ///< of variables in loops' conditions: these are there before any iteration
    of_all,         ///< what is asked about is done in the first iteration
  };
  /// What counts as the past.
  struct Scope {
    const Known* reached = nullptr;  ///< of an iteration or activation that is in this branch
    std::size_t loop_depth = 0;      ///< what the iteration before has done of the loop with this depth; 0: of none
    First first = First::none;       ///< of the variables of loops around
  };
  /// When a file is written. @param loop_depth  as in Scope
  const Past& past(VariableId file, std::size_t loop_depth);
  /// When all of this is there.
  Past past_of(const std::vector<Awaited>& awaited, const Scope& scope) const;
  std::optional<Span> late_read(VariableId earlier, const Past& before) const;
  /// What is awaited before outputs of a call have values: set by whoever knows the functions.
  std::function<std::vector<Awaited>(const ast::Call&)> needs_of_call;

 private:
  bool may_depend(VariableId later, VariableId earlier) const;

  const Context& context_;
  const std::vector<VariableUse>& all_;
  std::map<std::pair<VariableId, std::size_t>, Past> pasts_;
};

}  // namespace raddle::check_detail
