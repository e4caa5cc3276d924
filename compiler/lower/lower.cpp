#include "compiler/lower/lower.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "compiler/check/annotations.hpp"
#include "compiler/ir/writers.hpp"
#include "compiler/lower/await_updates.hpp"
#include "compiler/lower/lower_function.hpp"
#include "compiler/lower/memo_call.hpp"
#include "compiler/lower/hold_arrays.hpp"
#include "compiler/lower/name_files.hpp"
#include "compiler/lower/name_streams.hpp"
#include "compiler/lower/visit_tree.hpp"

namespace raddle {

namespace lowering {

bool is_file(const TypeStore& types, TypeId type) {
  const TypeKind kind = types.kind(types.base(type));
  return kind == TypeKind::file || kind == TypeKind::url;
}

namespace {

/// For each function the top-level variables that it or a function it calls reads, in order of declaration.
class GlobalReads {
 public:
  explicit GlobalReads(const CheckedProgram& program)
      : program_(program), reads_(program.functions.size()), callers_(program.functions.size()) {
    std::vector<std::uint32_t> changed;  // their callers have not heard of it
    for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
      scan(i);
      if (!reads_[i].empty()) changed.push_back(i);
    }
    while (!changed.empty()) {
      const std::uint32_t callee = changed.back();
      changed.pop_back();
      for (const std::uint32_t caller : callers_[callee]) {
        const std::size_t before = reads_[caller].size();
        if (caller != callee) reads_[caller].insert(reads_[callee].begin(), reads_[callee].end());
        if (reads_[caller].size() != before) changed.push_back(caller);
      }
    }
  }
  std::vector<ast::VariableId> of(std::uint32_t function) const {
    return {reads_[function].begin(), reads_[function].end()};
  }

 private:
  void scan(std::uint32_t index) {
    const ast::FunctionDefinition& definition = *program_.functions[index].definition;
    const auto read = [&](ast::VariableId variable) {
      if (variable != ast::no_variable && program_.variables[variable].role == VariableRole::global)
        reads_[index].insert(variable);
    };
    const auto expression = [&](const ast::Expr& expr) {
      if (expr.kind == ast::ExprKind::Name) {
        read(ast::as<ast::Name>(expr).variable);
      } else if (expr.kind == ast::ExprKind::Call) {
        const auto& call = ast::as<ast::Call>(expr);
        if (call.callee_kind == ast::CalleeKind::function) callers_[call.callee_index].insert(index);
      }
    };
    const TreeVisitor visitor{.expression = expression, .updated = read};
    if (definition.block) visit_statement(*definition.block, visitor);
    for (const auto* formals : {&definition.inputs, &definition.outputs}) {
      for (const ast::Formal& formal : *formals) {
        visit_extents(formal.type.dimensions, visitor);
        visit_extents(formal.dimensions, visitor);
      }
    }
    for (const ast::Annotation& annotation : definition.annotations)
      if (annotation.value) visit_expression(*annotation.value, visitor);
    for (const ast::ExprPtr& word : definition.command.words) visit_expression(*word, visitor);
    for (const auto& redirection : definition.command.redirections) visit_expression(*redirection.file, visitor);
  }

  const CheckedProgram& program_;
  std::vector<std::set<ast::VariableId>> reads_;
  std::vector<std::set<std::uint32_t>> callers_;
};

}  // namespace

bool has_annotation(const ast::Annotations& annotations, std::string_view name) {
  return std::ranges::any_of(annotations,
                             [&](const ast::Annotation& annotation) { return annotation.name.text == name; });
}

vm::Placement placement_of(const ast::Annotations& annotations, vm::Placement otherwise) {
  if (has_annotation(annotations, "cpu")) return vm::Placement::cpu;
  return has_annotation(annotations, "gpu") ? vm::Placement::gpu : otherwise;
}

ir::FunctionId add_function(ModuleContext& context, const std::string& name, Span span) {
  const unsigned others = context.function_names[name]++;
  ir::Function& function = context.module.functions.emplace_back();
  function.name = others == 0 ? name : name + "." + std::to_string(others);
  function.span = span;
  function.regions.emplace_back();
  return static_cast<ir::FunctionId>(context.module.functions.size() - 1);
}

namespace {

void lower_body(ModuleContext& context, std::uint32_t index, ir::FunctionId id, const CallerForm& form) {
  const CheckedProgram& program = context.program;
  const CheckedFunction& checked = program.functions[index];
  const ast::FunctionDefinition& definition = *checked.definition;
  ir::Function& function = context.module.functions[id];
  function.demands_leaf = has_annotation(definition.annotations, "leaf");
  function.placement = placement_of(definition.annotations, vm::Placement::any);
  FunctionLowering body(context, id);
  for (const ast::VariableId output : checked.outputs) {
    if (!is_file(program.types, program.variables[output].type)) continue;
    body.add_parameter(output);
    ++function.file_output_count;
  }
  for (const ast::VariableId input : checked.inputs) body.add_input(input, form.has_views);
  for (const ast::VariableId global : context.globals_read[index]) body.add_input(global, false);
  for (const ast::VariableId output : checked.outputs)
    if (!is_file(program.types, program.variables[output].type)) body.add_output(output);
  if (checked.is_app) {
    function.kind = ir::FunctionKind::app;
    body.lower_command(definition, form.limits);
  } else if (definition.body_kind == ast::BodyKind::library || definition.body_kind == ast::BodyKind::tcl) {
    body.lower_foreign(definition);
  } else if (definition.block) {
    body.lower_function_block(definition, checked.outputs);
  }
}

}  // namespace

ir::FunctionId function_of(ModuleContext& context, std::uint32_t index) {
  ir::FunctionId& id = context.functions[index];
  if (id == ir::none) {
    const CheckedFunction& checked = context.program.functions[index];
    id = add_function(context, checked.name, checked.definition->name.span);
    context.called.push_back(index);
  }
  return id;
}

void lower_function(ModuleContext& context, std::uint32_t index, ir::FunctionId id, const CallerForm& form) {
  const CheckedFunction& checked = context.program.functions[index];
  if (!check_detail::is_memo(*checked.definition)) return lower_body(context, index, id, form);
  const ir::FunctionId body = add_function(context, checked.name, checked.definition->name.span);
  lower_body(context, index, body, form);
  lower_memo(context, id, body, static_cast<std::size_t>(std::popcount(form.limits)));
}

namespace {

class ModuleLowering {
 public:
  ModuleLowering(CheckedProgram& program, Diagnostics& diagnostics, ir::Module& module)
      : program_(program), context_{program, diagnostics, module} {}

  void run() {
    const GlobalReads globals(program_);
    ir::Module& module = context_.module;
    module.script = module.entry = add_function(context_, "main", Span{.file = program_.modules.back()->file});
    for (std::uint32_t i = 0; i < program_.functions.size(); ++i) {
      const CheckedFunction& checked = program_.functions[i];
      context_.functions.push_back(is_made_when_called(checked)
                                       ? ir::none
                                       : add_function(context_, checked.name, checked.definition->name.span));
      context_.globals_read.push_back(globals.of(i));
    }
    for (std::uint32_t i = 0; i < program_.functions.size(); ++i)
      if (!is_made_when_called(program_.functions[i])) lower_function(context_, i, context_.functions[i], {});
    lower_entry();
    while (!context_.called.empty()) {
      const std::uint32_t index = context_.called.back();
      context_.called.pop_back();
      lower_function(context_, index, context_.functions[index], {});
    }
    name_files(module);
    name_streams(module);
    for (ir::Function& function : module.functions) hold_arrays(program_.types, function);
    await_updates(module);
    for (ir::Function& function : module.functions) ir::count_writers(function);
  }

 private:
  bool is_made_when_called(const CheckedFunction& function) const {
    return function.is_generic || context_.module.sources->at(function.definition->name.span.file).is_of_library();
  }

  void lower_entry() {
    FunctionLowering body(context_, context_.module.entry);
    for (const ScriptParameter& parameter : program_.parameters) body.add_parameter(parameter.variable);
    for (const ScriptResult& result : program_.results) body.add_result(result.variable);
    for (const auto& module : program_.modules) body.find_containers(module->statements);
    for (const auto& module : program_.modules) body.lower_block(module->statements);
    if (program_.main_function)
      body.call_function(*program_.main_function, program_.functions[*program_.main_function].definition->name.span);
  }

  CheckedProgram& program_;
  ModuleContext context_;
};

}  // namespace
}  // namespace lowering

ir::Module lower(CheckedProgram& program, SourceMap& sources, Diagnostics& diagnostics) {
  ir::Module module;
  module.types = &program.types;
  module.sources = &sources;
  lowering::ModuleLowering(program, diagnostics, module).run();
  return module;
}

}  // namespace raddle
