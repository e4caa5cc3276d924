#include "compiler/assignment/early_reads.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace raddle::check_detail {

using ast::as;
using ast::ExprKind;
using ast::StmtKind;

namespace {

class EarlyReads {
 public:
  explicit EarlyReads(Context& context) : context_(context) {}

  void run() {
    for (const auto& module : context_.program.modules) block(module->statements);
    ++delays_;  // a function's body runs when it is called
    for (const auto& module : context_.program.modules)
      for (const auto& function : module->functions)
        if (function->body_kind == ast::BodyKind::block) block(*function->block);
    follow_passed();
    for (const EarlyRead& read : reads_) {
      const auto update = updates_.find(read.variable);
      if (update == updates_.end()) continue;
      context_.diagnostics.report(DiagnosticKind::early_read, read.span, context_.variable(read.variable).name)
          .label(update->second, "updated here")
          .note("read it in `wait (" + context_.variable(read.variable).name +
                ") { ... }`, which waits until all of its updates are done; or take `sum` or `min` of an array");
    }
  }

 private:
  struct EarlyRead {
    VariableId variable;
    Span span;
  };
  /// A variable that a call gives a function to update.
  struct Passed {
    VariableId variable, formal;
    Span span;
  };

  bool is_updateable(VariableId variable) const {
    return variable != ast::no_variable && context_.program.variables[variable].type == TypeStore::updateable;
  }

  /// `t => ...` waits for the updates of `t`.
  static bool is_awaited(const ast::Stmt& link) {
    if (link.kind != StmtKind::Evaluate) return false;
    const ast::Expr& expr = *as<const ast::Evaluate>(link).expr;
    return expr.kind == ExprKind::Name && expr.type == TypeStore::updateable;
  }

  void block(const ast::Block& block) {
    for (const auto& written : block.statements) statement(*written);
  }

  template <typename Walk>
  void delayed(const Walk& walk) {
    ++delays_;
    walk();
    --delays_;
  }

  void statement(const ast::Stmt& written) {
    switch (written.kind) {
      case StmtKind::Declaration:
        for (const ast::Declarator& declarator : as<const ast::Declaration>(written).declarators) {
          if (is_updateable(declarator.variable)) declared_.emplace(declarator.variable, delays_);
          if (declarator.value != nullptr) read(*declarator.value);
        }
        return;
      case StmtKind::Assign:
        for (const auto& value : as<const ast::Assign>(written).values) read(*value);
        return;
      case StmtKind::Append: return read(*as<const ast::Append>(written).value);
      case StmtKind::Update: {
        const auto& update = as<const ast::Update>(written);
        read(*update.value);
        if (is_updateable(update.variable)) updates_.try_emplace(update.variable, update.target.span);
        return;
      }
      case StmtKind::Evaluate: return read(*as<const ast::Evaluate>(written).expr);
      case StmtKind::If: {
        const auto& branch = as<const ast::If>(written);
        read(*branch.condition);
        return delayed([&] {
          block(*branch.then_block);
          if (branch.else_block != nullptr) statement(*branch.else_block);
        });
      }
      case StmtKind::Switch:
        read(*as<const ast::Switch>(written).value);
        return delayed([&] {
          for (const ast::Switch::Case& choice : as<const ast::Switch>(written).cases) block(*choice.block);
        });
      case StmtKind::Foreach:
        read(*as<const ast::Foreach>(written).iterable);
        return delayed([&] { block(*as<const ast::Foreach>(written).body); });
      case StmtKind::For: return delayed([&] { block(*as<const ast::For>(written).body); });
      case StmtKind::Iterate: return delayed([&] { block(*as<const ast::Iterate>(written).body); });
      case StmtKind::Wait: return delayed([&] { block(*as<const ast::Wait>(written).body); });
      case StmtKind::Try:
        return delayed([&] {
          block(*as<const ast::Try>(written).body);
          block(*as<const ast::Try>(written).otherwise);
        });
      case StmtKind::Chain: {
        const auto& links = as<const ast::Chain>(written).links;
        if (!is_awaited(*links.front())) statement(*links.front());
        return delayed([&] {
          for (std::size_t i = 1; i < links.size(); ++i) statement(*links[i]);
        });
      }
      case StmtKind::Block: return block(as<const ast::Block>(written));
      case StmtKind::Empty: return;
    }
  }

  /// What a statement reads, which it does at once, whatever else it waits for.
  void read(const ast::Expr& expr) {
    std::vector<EarlyRead> found;
    find_reads(expr, found);
    for (const EarlyRead& each : found)
      if (const auto at = declared_.find(each.variable); at != declared_.end() && at->second == delays_)
        reads_.push_back(each);
  }

  void find_reads(const std::vector<ast::ExprPtr>& all, std::vector<EarlyRead>& found) {
    for (const auto& each : all) find_reads(*each, found);
  }

  void find_reads(const ast::Expr& expr, std::vector<EarlyRead>& found) {
    switch (expr.kind) {
      case ExprKind::Name: {
        const VariableId variable = as<const ast::Name>(expr).variable;
        if (is_updateable(variable)) found.push_back({variable, expr.span});
        return;
      }
      case ExprKind::Unary: return find_reads(*as<const ast::Unary>(expr).operand, found);
      case ExprKind::Binary:
        find_reads(*as<const ast::Binary>(expr).left, found);
        return find_reads(*as<const ast::Binary>(expr).right, found);
      case ExprKind::Tuple: return find_reads(as<const ast::Tuple>(expr).elements, found);
      case ExprKind::ArrayLiteral: return find_reads(as<const ast::ArrayLiteral>(expr).elements, found);
      case ExprKind::Call: return find_reads_of_call(as<const ast::Call>(expr), found);
      default: return;
    }
  }

  void find_reads_of_call(const ast::Call& call, std::vector<EarlyRead>& found) {
    const ast::FunctionDefinition* definition = call.callee_kind == ast::CalleeKind::function
                                                    ? context_.program.functions[call.callee_index].definition
                                                    : nullptr;
    for (std::size_t i = 0; i < call.resolved_arguments.size(); ++i) {
      const ast::Expr& argument = *call.resolved_arguments[i];
      const VariableId formal =
          definition != nullptr && i < definition->inputs.size() ? definition->inputs[i].variable : ast::no_variable;
      if (is_updateable(formal) && argument.kind == ExprKind::Name)
        passed_.push_back({as<const ast::Name>(argument).variable, formal, argument.span});
      else
        find_reads(argument, found);
    }
  }

  /// A variable that is given to a function is updated if the function does that with its input.
  void follow_passed() {
    std::unordered_map<VariableId, std::vector<const Passed*>> by_formal;
    for (const Passed& each : passed_) by_formal[each.formal].push_back(&each);
    std::vector<VariableId> open;
    for (const auto& [variable, span] : updates_) open.push_back(variable);
    while (!open.empty()) {
      const VariableId formal = open.back();
      open.pop_back();
      for (const Passed* each : by_formal[formal])
        if (updates_.try_emplace(each->variable, each->span).second) open.push_back(each->variable);
    }
  }

  Context& context_;
  unsigned delays_ = 0;  ///< what the statement waits for: conditions, loops, links before it
  std::unordered_map<VariableId, unsigned> declared_;  ///< delays_ there
  std::unordered_map<VariableId, Span> updates_;       ///< the first one of each
  std::vector<EarlyRead> reads_;
  std::vector<Passed> passed_;
};

}  // namespace

void report_early_reads(Context& context) {
  const bool is_session = context.options.piece != nullptr;  // there one looks at what is there now
  if (!is_session && !context.diagnostics.has_errors()) EarlyReads(context).run();
}

}  // namespace raddle::check_detail
