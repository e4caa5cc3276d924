#pragma once
// What a part of a body assigns, and what is so of two parts that are both run, or one of them.
#include <unordered_map>
#include <vector>

#include "compiler/assignment/writes.hpp"

namespace raddle::check_detail {

/// Writes of a statement, a block or a branch, by variable.
class WriteSet {
 public:
  using Map = std::unordered_map<VariableId, Writes>;

  void add(VariableId variable, Write write) { writes_[variable].add(std::move(write)); }
  bool contains(VariableId variable) const { return writes_.contains(variable); }
  const Map& all() const { return writes_; }
  Map& all() { return writes_; }
  /// Removes and returns what is known of a variable whose scope ends.
  Writes take(VariableId variable);

  /// Both parts are run: reports what is assigned by both.
  void then(Context& context, WriteSet next);
  struct Branch;
  /// One of `branches` is run. Writes of all of them stay definite.
  /// Reports what some assign whole and others in parts: a container is made by one assignment or grows by elements.
  static WriteSet either(Context& context, std::vector<Branch> branches, Span condition);

 private:
  static void collect_parts(Context& context, std::vector<Branch>& branches);
  static void report_whole_and_parts(Context& context, std::vector<Branch>& branches);
  Map writes_;
};

struct WriteSet::Branch {
  WriteSet writes;
  Condition condition;
  const ast::Stmt* statement = nullptr;  ///< null: there is none
};

}  // namespace raddle::check_detail
