#pragma once
// The walk behind collect_use(). Private to compiler/check.
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/assignment/variable_use.hpp"

namespace raddle::check_detail {

/// A variable of a loop that has another value each time.
struct Counter;

class UseCollector {
 public:
  explicit UseCollector(Context& context) : context_(context), use_(context.program.variables.size()) {}
  CollectedUse run();

 private:
  struct Scope {
    std::vector<VariableId> variables;  ///< declared in it
    std::size_t first_read;
  };

  void walk_function(const ast::FunctionDefinition& function);
  void declare(VariableId variable);
  void declare_implicitly(VariableId variable) {
    declare(variable);
    use_[variable].is_implicit = true;
  }
  void enter_scope() { scopes_.push_back({.variables = {}, .first_read = read_count_}); }

  /// Moves what is known of the scope's variables out of `writes`. Of all others the reads in it are told which parts
  /// it assigns whenever it is run.
  void leave_scope(WriteSet& writes);
  void read(const ast::Expr& expr);
  /// What a loop's head has: outside of its body, but its calls are those of each iteration.
  void read_but_calls(const ast::Expr& expr);
  void add_read(VariableId variable, Read found);
  void annotations(const ast::Annotations& annotations);
  WriteSet block(const ast::Block& block);
  WriteSet statements(const ast::Block& block);
  WriteSet statement(const ast::Stmt& statement);
  WriteSet declaration(const ast::Declaration& declaration);
  /// Reads what stands in `[...]` behind the name or the type of a variable.
  void extents(const std::vector<ast::Dimension>& dimensions);

  /// Adds the write of `target` and the reads of its indices.
  void target(const ast::Expr& target, WriteSet& writes, bool appends = false);
  VariableId target_path(const ast::Expr& target, Write& write);
  WriteSet assign(const ast::Assign& assign);

  /// What the one write in `target` waits for when `value` is assigned.
  void note_needs(const ast::Expr& value, std::size_t output, WriteSet& target);

  /// Walks what is not reached without `awaited`.
  template <typename Walk>
  WriteSet after(const std::vector<Awaited>& awaited, const Walk& walk) {
    waited_for_.push_back(&awaited);
    WriteSet writes = walk();
    waited_for_.pop_back();
    return writes;
  }
  void note_mapping(VariableId variable, const ast::Expr& mapping);
  void note_calls(const ast::Expr& expr);

  /// `body` waits for `awaited`: reports what of that it assigns itself.
  void report_waiting(const std::vector<Awaited>& awaited, WriteSet& body, const char* how);
  WriteSet append(const ast::Append& append);

  /// A branch that is run if `condition` is so.
  template <typename Walk>
  WriteSet where(const Condition& condition, const Walk& walk) {
    const std::shared_ptr<const Known> around = known_;
    known_ = std::make_shared<Known>(condition, around);
    WriteSet writes = walk();
    known_ = around;
    return writes;
  }
  WriteSet branch(const ast::If& branch);
  WriteSet switch_(const ast::Switch& written);

  /// A variable that the loop which is about to be walked makes.
  void declare_in_loop(VariableId variable) {
    if (variable != ast::no_variable) use_[variable].loop_depth = loops_.size() + 1;
  }

  /// A loop's body, with or without a scope of its own.
  template <typename Walk>
  WriteSet body_of(LoopKind kind, Span loop, Repeats repeats, const Walk& walk) {
    loops_.push_back(kind);
    WriteSet writes = within({.span = loop, .loop = kind, .repeats = repeats}, walk);
    loops_.pop_back();
    return writes;
  }

  template <typename Walk>
  WriteSet within(Surrounding surrounding, const Walk& walk) {
    surrounding.number = ++block_count_;
    around_.push_back(surrounding);
    WriteSet writes = walk();
    around_.pop_back();
    return writes;
  }

  /// The innermost loop, if the variable is declared outside of it.
  LoopKind loop_around(VariableId variable) const {
    return loops_.size() > use_[variable].loop_depth ? loops_.back() : LoopKind::none;
  }

  /// The condition is so in one iteration of the loop that has just been left: `i == 3`, or `i == n` with an `n` from
  /// outside.
  bool is_pinned(const Condition& condition, VariableId counter) const;
  /// Of a loop that has been left.
  bool is_outside_loop(VariableId variable) const { return use_[variable].loop_depth <= loops_.size(); }

  /// A body that is run several times: what it assigns outside of itself may be assigned several times.
  void report_repeated(WriteSet& writes, Span loop, const char* what, const std::vector<Counter>& counters);
  WriteSet foreach_(const ast::Foreach& loop);
  WriteSet for_(const ast::For& loop);
  WriteSet iterate(const ast::Iterate& loop);

  WriteSet update(const ast::Update& update);
  void await_updates(const ast::Expr& awaited);

  /// Each link waits for what the one before it assigns, or names.
  WriteSet chain(const ast::Chain& chain);
  WriteSet wait(const ast::Wait& wait);
  WriteSet try_(const ast::Try& written);
  AttemptedVariable attempted(VariableId variable, const Writes& writes);
  /// When all is known of all variables: which of them a block of `try` reads and makes alone.
  void find_made_in_try();

  Context& context_;
  std::vector<VariableUse> use_;
  std::vector<BodyCall> calls_;
  const ast::FunctionDefinition* function_ = nullptr;  ///< that is walked; null: top level
  std::vector<Scope> scopes_;                          ///< the open ones
  std::size_t read_count_ = 0;
  std::shared_ptr<const Known> known_;                   ///< in the branch around the statement
  std::vector<LoopKind> loops_;                          ///< around the statement
  std::vector<Surrounding> around_;                      ///< the same, with branches and the function
  std::vector<const std::vector<Awaited>*> waited_for_;  ///< by what is around the statement
  std::vector<Awaited> awaited_updates_;                 ///< updateables that `wait` around the statement names
  std::uint32_t block_count_ = 0;
};

}  // namespace raddle::check_detail
