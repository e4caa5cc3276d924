#include "compiler/check/variable_use.hpp"

#include <algorithm>

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
    scopes_.emplace_back();
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
    scopes_.emplace_back();
    for (const ast::Formal& output : function.outputs) declare(output.variable);
    WriteSet writes = statements(*function.block);
    leave_scope(writes);
  }

  void declare(VariableId variable) {
    if (variable == ast::no_variable) return;
    use_[variable].is_declared = true;
    scopes_.back().push_back(variable);
  }

  /// Moves what is known of the scope's variables out of `writes`.
  void leave_scope(WriteSet& writes) {
    for (const VariableId variable : scopes_.back()) use_[variable].writes = writes.take(variable);
    scopes_.pop_back();
  }

  void read(const ast::Expr& expr) {
    read_variables(context_, expr,
                   [this](VariableId variable, Read found) { use_[variable].reads.push_back(std::move(found)); });
  }

  void annotations(const ast::Annotations& annotations) {
    for (const ast::Annotation& annotation : annotations)
      if (annotation.value != nullptr) read(*annotation.value);
  }

  WriteSet block(const ast::Block& block) {
    scopes_.emplace_back();
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
        if (update.variable != ast::no_variable) use_[update.variable].reads.push_back({{}, update.target.span, true});
        return {};
      }
      case StmtKind::Evaluate: read(*as<const ast::Evaluate>(statement).expr); return {};
      case StmtKind::If: return branch(as<const ast::If>(statement));
      case StmtKind::Switch: return switch_(as<const ast::Switch>(statement));
      case StmtKind::Foreach: return foreach_(as<const ast::Foreach>(statement));
      case StmtKind::For: return for_(as<const ast::For>(statement));
      case StmtKind::Iterate: return iterate(as<const ast::Iterate>(statement));
      case StmtKind::Wait: return wait(as<const ast::Wait>(statement));
      case StmtKind::Chain: {
        WriteSet writes;
        for (const auto& link : as<const ast::Chain>(statement).links) writes.then(context_, this->statement(*link));
        return writes;
      }
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
        if (declarator.variable != ast::no_variable) use_[declarator.variable].is_mapped = true;
      }
      if (declarator.value == nullptr) continue;
      read(*declarator.value);
      if (declarator.variable != ast::no_variable)
        writes.add(declarator.variable, {.path = {},
                                         .span = declarator.name.span,
                                         .needs = awaited_variables(context_, *declarator.value),
                                         .condition = {}});
    }
    return writes;
  }

  /// Adds the write of `target` and the reads of its indices.
  void target(const ast::Expr& target, WriteSet& writes, bool appends = false) {
    Write write{.path = {}, .span = target.span, .condition = {}};
    const VariableId variable = target_path(target, write.path);
    if (variable == ast::no_variable) return;
    if (appends) write.path.push_back({.kind = Step::Kind::element, .key = {}});
    writes.add(variable, std::move(write));
  }

  VariableId target_path(const ast::Expr& target, Path& path) {
    if (target.kind == ExprKind::Name) return as<const ast::Name>(target).variable;
    if (target.kind == ExprKind::Field) {
      const auto& field = as<const ast::Field>(target);
      const VariableId variable = target_path(*field.base, path);
      path.push_back({.kind = Step::Kind::field, .field = field.index, .key = {}});
      return variable;
    }
    if (target.kind != ExprKind::Index) return ast::no_variable;
    const auto& index = as<const ast::Index>(target);
    const VariableId variable = target_path(*index.base, path);
    for (const auto& key : index.indices) read(*key);
    path.push_back(key_step(*index.indices.front()));
    return variable;
  }

  static Step key_step(const ast::Expr& key) {
    if (key.kind == ExprKind::IntLiteral)
      return {.kind = Step::Kind::literal, .key = std::to_string(as<const ast::IntLiteral>(key).value)};
    if (key.kind == ExprKind::StringLiteral)
      return {.kind = Step::Kind::literal, .key = as<const ast::StringLiteral>(key).value};
    return {.kind = Step::Kind::element, .key = {}};
  }

  WriteSet assign(const ast::Assign& assign) {
    annotations(assign.annotations);
    for (const auto& value : assign.values) read(*value);
    WriteSet writes;
    for (std::size_t i = 0; i < assign.targets.size(); ++i) {
      WriteSet one;
      target(*assign.targets[i], one);
      if (i < assign.declares.size() && assign.declares[i])
        for (const auto& [variable, unused] : one.all()) declare(variable);
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

  /// What the whole variables in `target` wait for when `value` is assigned to them.
  void note_needs(const ast::Expr& value, WriteSet& target) {
    for (auto& [variable, writes] : target.all())
      if (writes.front().path.empty()) writes.front().needs = awaited_variables(context_, value);
  }

  /// Reports the variables that `awaited` waits for and `body` assigns.
  void report_waiting(const ast::Expr& awaited, const WriteSet& body, const char* how) {
    for (const Awaited& found : awaited_variables(context_, awaited)) {
      const auto writes = body.all().find(found.variable);
      if (writes == body.all().end() || !context_.silenced.insert(found.variable).second) continue;
      context_.diagnostics
          .report(DiagnosticKind::deadlock, writes->second.front().span, context_.variable(found.variable).name, how)
          .label(found.span, "waits for it here");
    }
  }

  WriteSet append(const ast::Append& append) {
    read(*append.value);
    WriteSet writes;
    target(*append.target, writes, true);
    return writes;
  }

  WriteSet branch(const ast::If& branch) {
    read(*branch.condition);
    std::vector<WriteSet> branches;
    branches.push_back(block(*branch.then_block));
    branches.push_back(branch.else_block == nullptr ? WriteSet{} : statement(*branch.else_block));
    WriteSet writes = WriteSet::either(context_, std::move(branches), branch.condition->span);
    report_waiting(*branch.condition, writes, "is assigned in a branch that waits for it");
    return writes;
  }

  WriteSet switch_(const ast::Switch& written) {
    read(*written.value);
    std::vector<WriteSet> branches;
    bool has_default = false;
    for (const ast::Switch::Case& choice : written.cases) {
      branches.push_back(block(*choice.block));
      has_default = has_default || !choice.label;
    }
    if (!has_default) branches.emplace_back();
    WriteSet writes = WriteSet::either(context_, std::move(branches), written.value->span);
    report_waiting(*written.value, writes, "is assigned in a branch that waits for it");
    return writes;
  }

  /// A body that is run several times: what it assigns outside of itself may be assigned several times.
  void report_repeated(WriteSet& writes, Span loop, const char* what) {
    for (auto& [variable, all] : writes.all()) {
      for (Write& write : all) {
        write.definite = false;
        write.condition = loop;
        const bool some_element = std::any_of(write.path.begin(), write.path.end(),
                                              [](const Step& step) { return step.kind == Step::Kind::element; });
        if (some_element || write.reported || context_.silenced.contains(variable)) continue;
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
    WriteSet writes = block(*loop.body);
    report_waiting(*loop.iterable, writes, "is assigned in a loop that waits for it");
    report_repeated(writes, loop.iterable->span, "the body runs once for each element");
    return writes;
  }

  WriteSet for_(const ast::For& loop) {
    annotations(loop.annotations);
    for (const ast::For::Variable& variable : loop.variables) read(*variable.initial);
    read(*loop.condition);
    scopes_.emplace_back();
    WriteSet body = statements(*loop.body);
    for (const ast::For::Variable& variable : loop.variables)
      if (variable.update != nullptr) read(*variable.update);
    leave_scope(body);
    report_repeated(body, loop.condition->span, "the body runs as long as this is so");
    WriteSet finals;
    for (const ast::For::Variable& variable : loop.variables)
      if (variable.outer != ast::no_variable)
        finals.add(variable.outer, {.path = {}, .span = variable.name.span, .condition = {}});
    body.then(context_, std::move(finals));
    return body;
  }

  WriteSet iterate(const ast::Iterate& loop) {
    annotations(loop.annotations);
    scopes_.emplace_back();
    WriteSet writes = statements(*loop.body);
    read(*loop.until);
    leave_scope(writes);
    report_repeated(writes, loop.until->span, "the body runs until this is so");
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
  std::vector<std::vector<VariableId>> scopes_;  ///< variables declared in each open scope
};

}  // namespace

std::vector<VariableUse> collect_use(Context& context) { return UseCollector(context).run(); }

}  // namespace raddle::check_detail
