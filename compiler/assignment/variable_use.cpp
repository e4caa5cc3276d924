#include "compiler/assignment/variable_use.hpp"

#include <algorithm>
#include <ranges>
#include <string>
#include <unordered_set>
#include <utility>

#include "compiler/assignment/read_variables.hpp"
#include "compiler/assignment/use_collector.hpp"

namespace raddle::check_detail {

using ast::as;
using ast::ExprKind;
using ast::StmtKind;

namespace {

/// What is assigned, but for elements: reads do not tell them apart.
std::vector<Path> paths_of(const Writes& writes) {
  const auto is_index = [](const Step& step) { return step.kind != Step::Kind::field; };
  std::vector<Path> paths;
  std::unordered_set<std::string> seen;
  for (const Write& write : writes) {
    if (std::ranges::any_of(write.path, is_index)) continue;
    if (seen.insert(place_text(write.path, write.path.size())).second) paths.push_back(write.path);
  }
  return paths;
}

void note_assigned(Read& read, const Writes& writes, const std::vector<Path>& paths) {
  for (const Path& path : paths)
    if (!is_assigned_at(read, {}, path) && is_assigned_at(read, writes, path)) read.assigned.push_back(path);
}

/// The value of one target: its own, or the call of which it gets an output. Null where the numbers differ.
const ast::Expr* value_of(const ast::Assign& assign, std::size_t target) {
  if (assign.values.size() == 1) return assign.values.front().get();
  return assign.values.size() == assign.targets.size() ? assign.values[target].get() : nullptr;
}

void append_to(std::vector<Awaited>& all, const std::vector<Awaited>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// The statements that did `writes` are not reached without `awaited`.
void add_waits(WriteSet& writes, std::vector<Awaited> awaited) {
  for (Awaited& each : awaited) each.closed = true;
  for (auto& [variable, all] : writes.all())
    for (Write& write : all) append_to(write.waits, awaited);
}

}  // namespace

CollectedUse UseCollector::run() {
  // the top level of all modules is one body: they share their variables
  enter_scope();
  WriteSet top;
  for (const auto& module : context_.program.modules) top.then(context_, statements(module->statements));
  leave_scope(top);
  for (const auto& module : context_.program.modules)
    for (const auto& function : module->functions) walk_function(*function);
  find_made_in_try();
  return {std::move(use_), std::move(calls_)};
}

void UseCollector::walk_function(const ast::FunctionDefinition& function) {
  function_ = &function;
  annotations(function.annotations);
  if (function.body_kind == ast::BodyKind::command) {
    for (const auto& word : function.command.words) read(*word);
    for (const auto& redirection : function.command.redirections) read(*redirection.file);
  }
  if (function.body_kind != ast::BodyKind::block) return;
  enter_scope();
  for (const auto* formals : {&function.inputs, &function.outputs}) {
    for (const ast::Formal& formal : *formals) {
      extents(formal.type.dimensions);
      extents(formal.dimensions);
    }
  }
  for (const ast::Formal& output : function.outputs) declare(output.variable);
  WriteSet writes = within({.span = function.name.span}, [&] { return statements(*function.block); });
  leave_scope(writes);
}

void UseCollector::declare(VariableId variable) {
  if (variable == ast::no_variable) return;
  use_[variable].is_declared = true;
  use_[variable].loop_depth = loops_.size();
  scopes_.back().variables.push_back(variable);
}

void UseCollector::leave_scope(WriteSet& writes) {
  for (const VariableId variable : scopes_.back().variables) use_[variable].writes = writes.take(variable);
  for (const auto& [variable, all] : writes.all()) {
    std::vector<Read>& reads = use_[variable].reads;
    const auto first = std::ranges::lower_bound(reads, scopes_.back().first_read, {}, &Read::number);
    if (first == reads.end()) continue;
    const std::vector<Path> paths = paths_of(all);
    for (Read& read : std::ranges::subrange(first, reads.end())) note_assigned(read, all, paths);
  }
  scopes_.pop_back();
}

void UseCollector::read(const ast::Expr& expr) {
  read_but_calls(expr);
  note_calls(expr);
}

void UseCollector::read_but_calls(const ast::Expr& expr) {
  read_variables(context_, expr, [this](VariableId variable, Read found) { add_read(variable, std::move(found)); });
}

void UseCollector::note_calls(const ast::Expr& expr) {
  if (!context_.maps_files_in_functions) return;
  for (const ast::Call* call : calls_of_bodies(context_, expr)) {
    calls_.push_back({.call = call, .function = function_, .around = around_, .waits = {}, .known = known_});
    for (const std::vector<Awaited>* awaited : waited_for_) append_to(calls_.back().waits, *awaited);
  }
}

void UseCollector::add_read(VariableId variable, Read found) {
  found.known = known_;
  found.number = read_count_++;
  use_[variable].reads.push_back(std::move(found));
}

void UseCollector::annotations(const ast::Annotations& annotations) {
  for (const ast::Annotation& annotation : annotations)
    if (annotation.value != nullptr) read(*annotation.value);
}

WriteSet UseCollector::block(const ast::Block& block) {
  enter_scope();
  WriteSet writes = statements(block);
  leave_scope(writes);
  return writes;
}

WriteSet UseCollector::statements(const ast::Block& block) {
  WriteSet writes;
  for (const auto& written : block.statements) writes.then(context_, statement(*written));
  return writes;
}

WriteSet UseCollector::statement(const ast::Stmt& statement) {
  switch (statement.kind) {
    case StmtKind::Declaration: return declaration(as<const ast::Declaration>(statement));
    case StmtKind::Assign: return assign(as<const ast::Assign>(statement));
    case StmtKind::Append: return append(as<const ast::Append>(statement));
    case StmtKind::Update: return update(as<const ast::Update>(statement));
    case StmtKind::Evaluate: read(*as<const ast::Evaluate>(statement).expr); return {};
    case StmtKind::If: return branch(as<const ast::If>(statement));
    case StmtKind::Switch: return switch_(as<const ast::Switch>(statement));
    case StmtKind::Foreach: return foreach_(as<const ast::Foreach>(statement));
    case StmtKind::For: return for_(as<const ast::For>(statement));
    case StmtKind::Iterate: return iterate(as<const ast::Iterate>(statement));
    case StmtKind::Wait: return wait(as<const ast::Wait>(statement));
    case StmtKind::Try: return try_(as<const ast::Try>(statement));
    case StmtKind::Chain: return chain(as<const ast::Chain>(statement));
    case StmtKind::Block: return block(as<const ast::Block>(statement));
    case StmtKind::Empty: return {};
  }
  return {};
}

void UseCollector::extents(const std::vector<ast::Dimension>& dimensions) {
  for (const ast::Dimension& dimension : dimensions)
    for (const auto& entry : dimension.entries) read(*entry);
}

WriteSet UseCollector::declaration(const ast::Declaration& declaration) {
  annotations(declaration.annotations);
  WriteSet writes;
  extents(declaration.type.dimensions);
  for (const ast::Declarator& declarator : declaration.declarators) {
    extents(declarator.dimensions);
    declare(declarator.variable);
    if (declarator.mapping != nullptr) {
      read(*declarator.mapping);
      if (declarator.variable != ast::no_variable) note_mapping(declarator.variable, *declarator.mapping);
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

void UseCollector::note_mapping(VariableId variable, const ast::Expr& mapping) {
  VariableUse& use = use_[variable];
  use.mapping = &mapping;
  use.around = around_;
  use.function = function_;
  use.known = known_;
  for (const std::vector<Awaited>* awaited : waited_for_) append_to(use.waits, *awaited);
}

void UseCollector::target(const ast::Expr& target, WriteSet& writes, bool appends) {
  Write write{.path = {}, .span = target.span};
  const VariableId variable = target_path(target, write);
  if (variable == ast::no_variable) return;
  write.loop = loop_around(variable);
  if (appends) write.path.push_back({.kind = Step::Kind::element, .key = {}});
  writes.add(variable, std::move(write));
}

VariableId UseCollector::target_path(const ast::Expr& target, Write& write) {
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
  for (const auto& key : index.indices) write.path.push_back(key_step(*key));
  return variable;
}

WriteSet UseCollector::assign(const ast::Assign& assign) {
  annotations(assign.annotations);
  for (const auto& value : assign.values) read(*value);
  WriteSet writes;
  for (std::size_t i = 0; i < assign.targets.size(); ++i) {
    WriteSet one;
    target(*assign.targets[i], one);
    if (i < assign.declares.size() && assign.declares[i])
      for (const auto& [variable, unused] : one.all()) declare_implicitly(variable);
    if (const ast::Expr* value = value_of(assign, i)) note_needs(*value, assign.values.size() == 1 ? i : 0, one);
    writes.then(context_, std::move(one));
  }
  return writes;
}

/// @param output  of the call, if `value` is one with several
void UseCollector::note_needs(const ast::Expr& value, std::size_t output, WriteSet& target) {
  for (auto& [variable, writes] : target.all()) {
    Write& write = writes.front();
    write.value = &value;
    write.needs = awaited_variables(context_, value);
    for (Awaited& need : write.needs)
      if (need.call == &value) need.output = output;
    for (const Awaited& need : write.needs) {
      if (need.variable != variable || need.path != write.path || !lies_in(need.path, write.path)) continue;
      write.own_value = need.span;
      write.is_sum = value.kind == ExprKind::Binary && as<const ast::Binary>(value).op == ast::BinaryOp::add;
      write.reported = true;  // when all writes are known
      break;
    }
  }
}

void UseCollector::report_waiting(const std::vector<Awaited>& awaited, WriteSet& body, const char* how) {
  for (const Awaited& found : awaited) {
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
  add_waits(body, awaited);
}

WriteSet UseCollector::append(const ast::Append& append) {
  read(*append.value);
  WriteSet writes;
  target(*append.target, writes, true);
  return writes;
}

WriteSet UseCollector::update(const ast::Update& update) {
  read(*update.value);
  if (update.variable == ast::no_variable) return {};
  use_[update.variable].is_updated = true;
  const auto awaited = std::ranges::find(awaited_updates_, update.variable, &Awaited::variable);
  if (awaited != awaited_updates_.end() && context_.silenced.insert(update.variable).second)
    context_.diagnostics
        .report(DiagnosticKind::deadlock, update.target.span, context_.variable(update.variable).name,
                "is updated in a block that waits for all its updates")
        .label(awaited->span, "waits for it here");
  return {};
}

/// The statement is `t` of a chain, or `wait (t)`.
void UseCollector::await_updates(const ast::Expr& awaited) {
  if (awaited.kind == ExprKind::Name && awaited.type == TypeStore::updateable)
    awaited_updates_.push_back({.variable = as<const ast::Name>(awaited).variable, .span = awaited.span});
}

WriteSet UseCollector::branch(const ast::If& branch) {
  read(*branch.condition);
  const std::vector<Awaited> awaited = awaited_variables(context_, *branch.condition);
  const Surrounding taken{.span = branch.condition->span};
  const auto walk = [&](const auto& block) { return after(awaited, [&] { return within(taken, block); }); };
  Condition is_so = condition_of(context_, *branch.condition, true);
  Condition is_not = condition_of(context_, *branch.condition, false);
  WriteSet then = where(is_so, [&] { return walk([&] { return block(*branch.then_block); }); });
  WriteSet otherwise;
  if (branch.else_block != nullptr)
    otherwise = where(is_not, [&] { return walk([&] { return statement(*branch.else_block); }); });
  std::vector<WriteSet::Branch> branches;
  branches.push_back({std::move(then), std::move(is_so), branch.then_block.get()});
  branches.push_back({std::move(otherwise), std::move(is_not), branch.else_block.get()});
  WriteSet writes = WriteSet::either(context_, std::move(branches), branch.condition->span);
  report_waiting(awaited, writes, "is assigned in a branch that waits for it");
  return writes;
}

WriteSet UseCollector::switch_(const ast::Switch& written) {
  read(*written.value);
  const std::vector<Awaited> awaited = awaited_variables(context_, *written.value);
  std::vector<WriteSet::Branch> branches;
  bool has_default = false;
  for (const ast::Switch::Case& choice : written.cases) {
    Condition condition = condition_of_case(context_, written, choice);
    const Surrounding taken{.span = written.value->span};
    const auto walk = [&] { return within(taken, [&] { return block(*choice.block); }); };
    WriteSet own = where(condition, [&] { return after(awaited, walk); });
    branches.push_back({std::move(own), std::move(condition), choice.block.get()});
    has_default = has_default || !choice.label;
  }
  if (!has_default) branches.emplace_back();
  WriteSet writes = WriteSet::either(context_, std::move(branches), written.value->span);
  report_waiting(awaited, writes, "is assigned in a branch that waits for it");
  return writes;
}

WriteSet UseCollector::chain(const ast::Chain& chain) {
  constexpr std::size_t most_outputs = 1000;  // each link has all: what lies further back is found in the run
  WriteSet writes;
  const std::size_t awaited_before = awaited_updates_.size();
  std::vector<Awaited> outputs;
  for (const auto& link : chain.links) {
    if (outputs.size() > 2 * most_outputs) outputs.erase(outputs.begin(), outputs.end() - most_outputs);
    WriteSet own = after(outputs, [&] { return statement(*link); });
    add_waits(own, outputs);
    if (link->kind == StmtKind::Evaluate) await_updates(*as<const ast::Evaluate>(*link).expr);
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
  awaited_updates_.resize(awaited_before);
  return writes;
}

WriteSet UseCollector::wait(const ast::Wait& wait) {
  std::vector<Awaited> all;
  const std::size_t awaited_before = awaited_updates_.size();
  for (const auto& awaited : wait.awaited) {
    read(*awaited);
    await_updates(*awaited);
    append_to(all, awaited_variables(context_, *awaited));
  }
  WriteSet writes = after(all, [&] { return block(*wait.body); });
  awaited_updates_.resize(awaited_before);
  report_waiting(all, writes, "is assigned in a block that waits for it");
  return writes;
}

Condition condition_in(const Known* known) {
  Condition all = always();
  for (; known != nullptr; known = known->around.get()) all = both(std::move(all), known->condition);
  return all;
}

bool is_assigned_at(const Read& read, const Writes& writes, const Path& path) {
  return std::ranges::any_of(read.assigned, [&](const Path& part) { return lies_in(path, part); }) ||
         is_assigned(writes, path, condition_in(read.known.get()));
}

CollectedUse collect_use(Context& context) { return UseCollector(context).run(); }

}  // namespace raddle::check_detail
