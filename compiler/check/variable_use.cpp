#include "compiler/check/variable_use.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "compiler/check/read_variables.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::ExprKind;
using ast::StmtKind;

class UseCollector {
 public:
  explicit UseCollector(Context& context) : context_(context), use_(context.program.variables.size()) {}

  std::vector<VariableUse> run() {
    // the top level of all modules is one body: they share their variables
    enter_scope();
    WriteSet top;
    for (const auto& module : context_.program.modules) top.then(context_, statements(module->statements));
    leave_scope(top);
    for (const auto& module : context_.program.modules)
      for (const auto& function : module->functions) walk_function(*function);
    return std::move(use_);
  }

 private:
  void walk_function(const ast::FunctionDefinition& function) {
    annotations(function.annotations);
    if (function.body_kind == ast::BodyKind::command) {
      for (const auto& word : function.command.words) read(*word);
      for (const auto& redirection : function.command.redirections) read(*redirection.file);
    }
    if (function.body_kind != ast::BodyKind::block) return;
    enter_scope();
    for (const ast::Formal& output : function.outputs) declare(output.variable);
    WriteSet writes = within({.span = function.name.span}, [&] { return statements(*function.block); });
    leave_scope(writes);
  }

  void declare(VariableId variable) {
    if (variable == ast::no_variable) return;
    use_[variable].is_declared = true;
    use_[variable].loop_depth = loops_.size();
    scopes_.back().variables.push_back(variable);
  }

  void declare_implicitly(VariableId variable) {
    declare(variable);
    use_[variable].is_implicit = true;
  }

  void enter_scope() { scopes_.push_back({.variables = {}, .first_read = read_count_}); }

  /// Moves what is known of the scope's variables out of `writes`. Of all others the reads in it are told which parts
  /// it assigns whenever it is run.
  void leave_scope(WriteSet& writes) {
    for (const VariableId variable : scopes_.back().variables) use_[variable].writes = writes.take(variable);
    for (const auto& [variable, all] : writes.all()) {
      std::vector<Read>& reads = use_[variable].reads;
      const auto first = std::ranges::lower_bound(reads, scopes_.back().first_read, {}, &Read::number);
      for (Read& read : std::ranges::subrange(first, reads.end())) note_assigned(read, all);
    }
    scopes_.pop_back();
  }

  static void note_assigned(Read& read, const std::vector<Write>& writes) {
    const auto is_index = [](const Step& step) { return step.kind != Step::Kind::field; };
    for (const Write& write : writes) {
      if (std::ranges::any_of(write.path, is_index)) continue;  // reads do not tell elements apart
      if (!is_assigned_at(read, {}, write.path) && is_assigned_at(read, writes, write.path))
        read.assigned.push_back(write.path);
    }
  }

  void read(const ast::Expr& expr) {
    read_variables(context_, expr, [this](VariableId variable, Read found) { add_read(variable, std::move(found)); });
  }

  void add_read(VariableId variable, Read found) {
    found.known = known_;
    found.number = read_count_++;
    use_[variable].reads.push_back(std::move(found));
  }

  void annotations(const ast::Annotations& annotations) {
    for (const ast::Annotation& annotation : annotations)
      if (annotation.value != nullptr) read(*annotation.value);
  }

  WriteSet block(const ast::Block& block) {
    enter_scope();
    WriteSet writes = statements(block);
    leave_scope(writes);
    return writes;
  }

  WriteSet statements(const ast::Block& block) {
    WriteSet writes;
    for (const auto& written : block.statements) writes.then(context_, statement(*written));
    return writes;
  }

  WriteSet statement(const ast::Stmt& statement) {
    switch (statement.kind) {
      case StmtKind::Declaration: return declaration(as<const ast::Declaration>(statement));
      case StmtKind::Assign: return assign(as<const ast::Assign>(statement));
      case StmtKind::Append: return append(as<const ast::Append>(statement));
      case StmtKind::Update: {
        const auto& update = as<const ast::Update>(statement);
        read(*update.value);
        if (update.variable != ast::no_variable) use_[update.variable].is_updated = true;
        return {};
      }
      case StmtKind::Evaluate: read(*as<const ast::Evaluate>(statement).expr); return {};
      case StmtKind::If: return branch(as<const ast::If>(statement));
      case StmtKind::Switch: return switch_(as<const ast::Switch>(statement));
      case StmtKind::Foreach: return foreach_(as<const ast::Foreach>(statement));
      case StmtKind::For: return for_(as<const ast::For>(statement));
      case StmtKind::Iterate: return iterate(as<const ast::Iterate>(statement));
      case StmtKind::Wait: return wait(as<const ast::Wait>(statement));
      case StmtKind::Chain: return chain(as<const ast::Chain>(statement));
      case StmtKind::Block: return block(as<const ast::Block>(statement));
      case StmtKind::Empty: return {};
    }
    return {};
  }

  WriteSet declaration(const ast::Declaration& declaration) {
    annotations(declaration.annotations);
    WriteSet writes;
    for (const ast::Declarator& declarator : declaration.declarators) {
      declare(declarator.variable);
      if (declarator.mapping != nullptr) {
        read(*declarator.mapping);
        if (declarator.variable != ast::no_variable) {
          use_[declarator.variable].mapping = declarator.mapping.get();
          use_[declarator.variable].around = around_;
        }
      }
      if (declarator.value == nullptr) continue;
      read(*declarator.value);
      if (declarator.variable != ast::no_variable)
        writes.add(declarator.variable, {.path = {},
                                         .span = declarator.name.span,
                                         .needs = awaited_variables(context_, *declarator.value),
                                         .loop = loop_around(declarator.variable),
                                         .value = declarator.value.get()});
    }
    return writes;
  }

  /// Adds the write of `target` and the reads of its indices.
  void target(const ast::Expr& target, WriteSet& writes, bool appends = false) {
    Write write{.path = {}, .span = target.span};
    const VariableId variable = target_path(target, write);
    if (variable == ast::no_variable) return;
    write.loop = loop_around(variable);
    if (appends) write.path.push_back({.kind = Step::Kind::element, .key = {}});
    writes.add(variable, std::move(write));
  }

  VariableId target_path(const ast::Expr& target, Write& write) {
    if (target.kind == ExprKind::Name) return as<const ast::Name>(target).variable;
    if (target.kind == ExprKind::Field) {
      const auto& field = as<const ast::Field>(target);
      const VariableId variable = target_path(*field.base, write);
      write.path.push_back({.kind = Step::Kind::field, .field = field.index, .key = {}});
      return variable;
    }
    if (target.kind != ExprKind::Index) return ast::no_variable;
    const auto& index = as<const ast::Index>(target);
    const VariableId variable = target_path(*index.base, write);
    for (const auto& key : index.indices) {
      read(*key);
      append_to(write.waits, awaited_variables(context_, *key));
    }
    write.path.push_back(key_step(*index.indices.front()));
    return variable;
  }

  WriteSet assign(const ast::Assign& assign) {
    annotations(assign.annotations);
    for (const auto& value : assign.values) read(*value);
    WriteSet writes;
    for (std::size_t i = 0; i < assign.targets.size(); ++i) {
      WriteSet one;
      target(*assign.targets[i], one);
      if (i < assign.declares.size() && assign.declares[i])
        for (const auto& [variable, unused] : one.all()) declare_implicitly(variable);
      if (const ast::Expr* value = value_of(assign, i)) note_needs(*value, one);
      writes.then(context_, std::move(one));
    }
    return writes;
  }

  /// The value of one target: its own, or the call of which it gets an output. Null where the numbers differ.
  static const ast::Expr* value_of(const ast::Assign& assign, std::size_t target) {
    if (assign.values.size() == 1) return assign.values.front().get();
    return assign.values.size() == assign.targets.size() ? assign.values[target].get() : nullptr;
  }

  /// What the one write in `target` waits for when `value` is assigned.
  void note_needs(const ast::Expr& value, WriteSet& target) {
    for (auto& [variable, writes] : target.all()) {
      Write& write = writes.front();
      write.value = &value;
      write.needs = awaited_variables(context_, value);
      for (const Awaited& need : write.needs) {
        if (need.variable != variable || need.path != write.path || !lies_in(need.path, write.path)) continue;
        write.own_value = need.span;
        write.is_sum = value.kind == ExprKind::Binary && as<const ast::Binary>(value).op == ast::BinaryOp::add;
        write.reported = true;  // when all writes are known
        break;
      }
    }
  }

  static void append_to(std::vector<Awaited>& all, const std::vector<Awaited>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  /// The statements that did `writes` are not reached without `awaited`.
  static void add_waits(WriteSet& writes, std::vector<Awaited> awaited) {
    for (Awaited& each : awaited) each.closed = true;
    for (auto& [variable, all] : writes.all())
      for (Write& write : all) append_to(write.waits, awaited);
  }

  /// `body` waits for what `awaited` waits for: reports what of that it assigns itself.
  void report_waiting(const ast::Expr& awaited, WriteSet& body, const char* how) {
    const std::vector<Awaited> all = awaited_variables(context_, awaited);
    for (const Awaited& found : all) {
      const auto writes = body.all().find(found.variable);
      if (writes == body.all().end()) continue;
      const auto own = std::ranges::find_if(writes->second, [&](const Write& write) {
        return !write.reported && (found.path.empty() || lies_in(found.path, write.path));
      });
      if (own == writes->second.end() || !context_.silenced.insert(found.variable).second) continue;
      context_.diagnostics
          .report(DiagnosticKind::deadlock, own->span, path_text(context_, found.variable, found.path), how)
          .label(found.span, "waits for it here");
    }
    add_waits(body, all);
  }

  WriteSet append(const ast::Append& append) {
    read(*append.value);
    WriteSet writes;
    target(*append.target, writes, true);
    return writes;
  }

  /// A branch that is run if `condition` is so.
  template <typename Walk>
  WriteSet where(const Condition& condition, const Walk& walk) {
    const std::shared_ptr<const Known> around = known_;
    known_ = std::make_shared<Known>(condition.facts, around);
    WriteSet writes = walk();
    known_ = around;
    return writes;
  }

  WriteSet branch(const ast::If& branch) {
    read(*branch.condition);
    const Surrounding taken{.span = branch.condition->span};
    Condition is_so = condition_of(context_, *branch.condition, true);
    Condition is_not = condition_of(context_, *branch.condition, false);
    WriteSet then = where(is_so, [&] { return within(taken, [&] { return block(*branch.then_block); }); });
    WriteSet otherwise;
    if (branch.else_block != nullptr)
      otherwise = where(is_not, [&] { return within(taken, [&] { return statement(*branch.else_block); }); });
    WriteSet writes =
        WriteSet::either(context_, {{std::move(then), std::move(is_so)}, {std::move(otherwise), std::move(is_not)}},
                         branch.condition->span);
    report_waiting(*branch.condition, writes, "is assigned in a branch that waits for it");
    return writes;
  }

  WriteSet switch_(const ast::Switch& written) {
    read(*written.value);
    std::vector<WriteSet::Branch> branches;
    bool has_default = false;
    for (const ast::Switch::Case& choice : written.cases) {
      Condition condition = condition_of_case(context_, written, choice);
      const Surrounding taken{.span = written.value->span};
      WriteSet own = where(condition, [&] { return within(taken, [&] { return block(*choice.block); }); });
      branches.push_back({std::move(own), std::move(condition)});
      has_default = has_default || !choice.label;
    }
    if (!has_default) branches.emplace_back();
    WriteSet writes = WriteSet::either(context_, std::move(branches), written.value->span);
    report_waiting(*written.value, writes, "is assigned in a branch that waits for it");
    return writes;
  }

  /// A variable that the loop which is about to be walked makes.
  void declare_in_loop(VariableId variable) {
    if (variable != ast::no_variable) use_[variable].loop_depth = loops_.size() + 1;
  }

  /// A loop's body, with or without a scope of its own.
  template <typename Walk>
  WriteSet body_of(LoopKind kind, Span loop, Repeats repeats, const Walk& walk) {
    loops_.push_back(kind);
    WriteSet writes = within({.span = loop, .is_loop = true, .repeats = repeats}, walk);
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

  /// `foreach` over a range of literals, or an array that is written out.
  static Repeats repeats_of(const ast::Foreach& loop) {
    if (loop.iterable->kind == ExprKind::ArrayLiteral)
      return as<const ast::ArrayLiteral>(*loop.iterable).elements.size() > 1 ? Repeats::surely : Repeats::never;
    if (loop.iterable->kind != ExprKind::Range) return Repeats::perhaps;
    const Counter counter = counter_of(loop);
    if (!counter.range) return Repeats::perhaps;
    return counter.range->first < counter.range->second ? Repeats::surely : Repeats::never;
  }

  /// The innermost loop, if the variable is declared outside of it.
  LoopKind loop_around(VariableId variable) const {
    return loops_.size() > use_[variable].loop_depth ? loops_.back() : LoopKind::none;
  }

  /// A variable of a loop that has another value each time.
  struct Counter {
    VariableId variable;
    std::optional<std::pair<std::int64_t, std::int64_t>> range = {};  ///< its first and last value, where it has all
  };

  /// `foreach i in [0:9]`
  static Counter counter_of(const ast::Foreach& loop) {
    Counter counter{loop.value_variable};
    const auto& range = as<const ast::Range>(*loop.iterable);
    const bool is_plain =
        range.step == nullptr && range.low->kind == ExprKind::IntLiteral && range.high->kind == ExprKind::IntLiteral;
    if (is_plain)
      counter.range = {as<const ast::IntLiteral>(*range.low).value, as<const ast::IntLiteral>(*range.high).value};
    return counter;
  }

  /// The condition is that the counter has a value which it does have once.
  static bool is_among(const Fact& condition, const Counter& counter) {
    const std::optional<std::int64_t> value = pinned_value(condition, counter.variable);
    return value && counter.range && counter.range->first <= *value && *value <= counter.range->second;
  }

  /// The facts are so in one iteration of the loop that has just been left: `i == 3`, or `i == n` with an `n` from
  /// outside.
  bool is_pinned(const std::vector<Fact>& facts, VariableId counter) const {
    return pins(facts, counter) || std::ranges::any_of(facts, [&](const Fact& fact) {
             const std::optional<VariableId> other = equal_variable(fact, counter);
             return other && use_[*other].loop_depth <= loops_.size();
           });
  }

  /// A body that is run several times: what it assigns outside of itself may be assigned several times.
  void report_repeated(WriteSet& writes, Span loop, const char* what, const std::vector<Counter>& counters) {
    for (auto& [variable, all] : writes.all()) {
      std::vector<Path> once;  // assigned for one value of a counter
      for (Write& write : all) {
        const auto counter =
            std::ranges::find_if(counters, [&](const Counter& each) { return is_pinned(write.facts, each.variable); });
        const bool has_counter = counter != counters.end();
        const Fact* only = write.only_if && write.only_if->size() == 1 ? &write.only_if->front() : nullptr;
        write.definite = has_counter && only != nullptr && is_among(*only, *counter);
        write.in_one_iteration =
            has_counter && only != nullptr && !(counter->range && pinned_value(*only, counter->variable).has_value());
        if (!write.definite) {
          write.condition = loop;
          write.is_in_body = true;
        }
        write.only_if = write.definite ? std::optional(std::vector<Fact>()) : std::nullopt;
        write.facts.clear();  // they are about other values in each iteration
        const bool some_element =
            std::ranges::any_of(write.path, [](const Step& step) { return step.kind == Step::Kind::element; });
        if (some_element || write.reported || context_.silenced.contains(variable)) continue;
        if (has_counter && std::ranges::find(once, write.path) == once.end()) {
          once.push_back(write.path);
          continue;
        }
        write.reported = true;
        context_.diagnostics
            .report(DiagnosticKind::may_be_assigned_twice, write.span, path_text(context_, variable, write.path))
            .label(loop, what);
      }
    }
  }

  WriteSet foreach_(const ast::Foreach& loop) {
    annotations(loop.annotations);
    read(*loop.iterable);
    for (const VariableId variable : {loop.value_variable, loop.key_variable}) declare_in_loop(variable);
    WriteSet writes =
        body_of(LoopKind::foreach_, loop.iterable->span, repeats_of(loop), [&] { return block(*loop.body); });
    std::vector<Counter> counters = {{loop.key_variable}};
    if (loop.iterable->kind == ExprKind::Range) counters.push_back(counter_of(loop));
    report_waiting(*loop.iterable, writes, "is assigned in a loop that waits for it");
    report_repeated(writes, loop.iterable->span, "the body runs once for each element", counters);
    return writes;
  }

  /// `i = i + 1`, `i = i - 2`.
  static bool counts(const ast::For::Variable& variable) {
    if (variable.update == nullptr || variable.update->kind != ExprKind::Binary) return false;
    const auto& step = as<const ast::Binary>(*variable.update);
    return (step.op == ast::BinaryOp::add || step.op == ast::BinaryOp::sub) && step.left->kind == ExprKind::Name &&
           as<const ast::Name>(*step.left).variable == variable.variable && step.right->kind == ExprKind::IntLiteral &&
           as<const ast::IntLiteral>(*step.right).value != 0;
  }

  WriteSet for_(const ast::For& loop) {
    annotations(loop.annotations);
    for (const ast::For::Variable& variable : loop.variables) read(*variable.initial);
    read(*loop.condition);
    for (const ast::For::Variable& variable : loop.variables) declare_in_loop(variable.variable);
    enter_scope();
    WriteSet body =
        body_of(LoopKind::for_, loop.condition->span, Repeats::perhaps, [&] { return statements(*loop.body); });
    std::vector<Counter> counters;
    for (const ast::For::Variable& variable : loop.variables) {
      if (variable.update != nullptr) read(*variable.update);
      if (counts(variable)) counters.push_back({variable.variable});
    }
    leave_scope(body);
    report_repeated(body, loop.condition->span, "the body runs as long as this is so", counters);
    WriteSet finals;
    for (const ast::For::Variable& variable : loop.variables)
      if (variable.outer != ast::no_variable)
        finals.add(variable.outer, {.path = {}, .span = variable.name.span, .loop = loop_around(variable.outer)});
    body.then(context_, std::move(finals));
    return body;
  }

  WriteSet iterate(const ast::Iterate& loop) {
    annotations(loop.annotations);
    declare_in_loop(loop.variable);
    enter_scope();
    WriteSet writes =
        body_of(LoopKind::iterate, loop.until->span, Repeats::perhaps, [&] { return statements(*loop.body); });
    read(*loop.until);
    leave_scope(writes);
    report_repeated(writes, loop.until->span, "the body runs until this is so", {{loop.variable}});
    return writes;
  }

  /// Each link waits for what the one before it assigns, or names.
  WriteSet chain(const ast::Chain& chain) {
    WriteSet writes;
    std::vector<Awaited> outputs;
    for (const auto& link : chain.links) {
      WriteSet own = statement(*link);
      add_waits(own, outputs);
      if (link->kind == StmtKind::Evaluate)
        append_to(outputs, awaited_variables(context_, *as<const ast::Evaluate>(*link).expr));
      for (const auto& [variable, all] : own.all())
        for (const Write& write : all)
          if (write.path.empty()) {
            outputs.push_back({.variable = variable, .span = write.span, .closed = true});
            if (link != chain.links.back()) add_read(variable, {.path = {}, .span = write.span});  // by what follows
          }
      writes.then(context_, std::move(own));
    }
    return writes;
  }

  WriteSet wait(const ast::Wait& wait) {
    for (const auto& awaited : wait.awaited) read(*awaited);
    WriteSet writes = block(*wait.body);
    for (const auto& awaited : wait.awaited)
      report_waiting(*awaited, writes, "is assigned in a block that waits for it");
    return writes;
  }

  Context& context_;
  std::vector<VariableUse> use_;
  struct Scope {
    std::vector<VariableId> variables;  ///< declared in it
    std::size_t first_read;
  };
  std::vector<Scope> scopes_;  ///< the open ones
  std::size_t read_count_ = 0;
  std::shared_ptr<const Known> known_;  ///< in the branch around the statement
  std::vector<LoopKind> loops_;         ///< around the statement
  std::vector<Surrounding> around_;     ///< the same, with branches and the function
  std::uint32_t block_count_ = 0;
};

}  // namespace

bool is_assigned_at(const Read& read, const std::vector<Write>& writes, const Path& path) {
  if (std::ranges::any_of(read.assigned, [&](const Path& part) { return lies_in(path, part); })) return true;
  std::vector<Fact> facts;
  for (const Known* known = read.known.get(); known != nullptr; known = known->around.get())
    facts.insert(facts.end(), known->facts.begin(), known->facts.end());
  return is_assigned(writes, path, facts);
}

std::vector<VariableUse> collect_use(Context& context) { return UseCollector(context).run(); }

}  // namespace raddle::check_detail
