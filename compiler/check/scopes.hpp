#pragma once
// Which names are visible at a place of a body. One object for each function body and one for the top-level
// statements of a module.
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/check/context.hpp"

namespace raddle::check_detail {

class Scopes {
 public:
  /// @param in_function  false: declarations outside any block become globals
  Scopes(Context& context, bool in_function)
      : context_(context), in_function_(in_function), levels_(1), made_inside_(1) {}

  void push() { levels_.emplace_back(), made_inside_.emplace_back(); }
  void pop() {
    for (const auto& [name, id] : levels_.back()) {
      ended_[name] = id;
      if (for_depth_ > 0) ended_in_for_.insert(id);
    }
    std::unordered_map<std::string, VariableId> made = std::move(made_inside_.back());
    for (const auto& [name, id] : levels_.back())
      if (made_.contains(id)) made.emplace(name, id);
    levels_.pop_back(), made_inside_.pop_back();
    made_inside_.back().merge(made);
  }
  /// What is declared between these, in blocks inside, too, is part of a `for`.
  void begin_for() { ++for_depth_; }
  void end_for() { --for_depth_; }
  bool in_function() const { return in_function_; }
  bool at_top_level() const { return !in_function_ && levels_.size() == 1; }

  /// no_variable if the name is not visible.
  VariableId find(const std::string& name) const;
  /// The latest variable of that name whose block has ended, no_variable if there is none.
  VariableId find_ended(const std::string& name) const {
    const auto found = ended_.find(name);
    return found == ended_.end() ? ast::no_variable : found->second;
  }
  /// @param id  of find_ended()
  bool was_in_for(VariableId id) const { return ended_in_for_.contains(id); }
  /// Declares in the innermost scope; reports names that are taken or hide others.
  VariableId declare(const ast::Identifier& name, TypeId type, VariableRole role);
  /// The same by an assignment to a name that is not visible.
  VariableId make(const ast::Identifier& name, TypeId type, VariableRole role) {
    const VariableId id = declare(name, type, role);
    made_.insert(id);
    return id;
  }
  /// Makes `name` mean `id` in the innermost scope: the inner copy of a loop variable declared outside.
  void bind(const std::string& name, VariableId id) { levels_.back()[name] = id; }
  /// All visible names, for suggestions.
  std::vector<std::string> names() const;
  /// True the first time that it is asked for `name`: an unknown name is reported once a body.
  bool first_report(const std::string& name) { return reported_.insert(name).second; }

 private:
  bool report_taken(const ast::Identifier& name);
  /// Warns, once for a name, where `name` of a function hides the top-level variable `global`. Not where the function
  /// came first, nor in a module for a variable of the script that imports it: neither can have meant the other.
  void report_hiding(const ast::Identifier& name, VariableId global);

  Context& context_;
  bool in_function_;
  std::vector<std::unordered_map<std::string, VariableId>> levels_;  ///< [0] is unused at top level: globals
  /// By level: the variables of make() in blocks inside that have ended.
  std::vector<std::unordered_map<std::string, VariableId>> made_inside_;
  std::unordered_set<VariableId> made_;
  std::unordered_map<std::string, VariableId> ended_;
  std::unordered_set<VariableId> ended_in_for_;
  unsigned for_depth_ = 0;
  std::unordered_set<std::string> reported_, hiding_;
};

}  // namespace raddle::check_detail
