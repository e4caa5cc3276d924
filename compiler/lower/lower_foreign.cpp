// Functions whose body is code outside of the script.
//
// Note [dense for C]. A C function that takes or gives dense arrays becomes two functions: the script's own, which
// checks extents as others do, and what C is called as: of a dense input it gets the elements and each extent, behind
// all inputs the extents of each dense output, and it gives the outputs' elements. So does one in Python or R, which
// gives the extents, too: those that it gets may be -1, which any extent is.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "compiler/check/annotations.hpp"
#include "compiler/check/check_foreign.hpp"
#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

using ir::OpKind;

void FunctionLowering::lower_foreign(const ast::FunctionDefinition& definition) {
  if (definition.body_kind == ast::BodyKind::tcl) {
    begin_foreign();
    lower_tcl(definition);
    return;
  }
  ir::Foreign foreign{ir::ForeignKind::library, "", "", definition.name.text};
  const std::string& script = context_.module.sources->at(definition.name.span.file).path();
  const std::filesystem::path folder = std::filesystem::path(script).parent_path();
  for (const ast::Annotation& annotation : definition.annotations) {
    if (annotation.name.text == "isolate") foreign.kind = ir::ForeignKind::isolated_library;
    if (annotation.name.text == "library") foreign.library = ast::as<ast::StringLiteral>(*annotation.value).value;
    if (annotation.name.text == "kernel") {
      foreign.kind = ir::ForeignKind::app_kernel;
      const auto [file, name] =
          check_detail::name_in_file(ast::as<ast::StringLiteral>(*annotation.value).value, definition.name.text);
      const bool is_of_library = file.starts_with('<');
      foreign.library = is_of_library ? file : (folder / file).string();
      foreign.code = name;
      foreign.place = annotation.value->span;
    }
  }
  if (const ast::Annotation* python = check_detail::find_annotation(definition.annotations, "python")) {
    foreign.kind = ir::ForeignKind::python;
    const auto [module, name] =
        check_detail::python_name(ast::as<ast::StringLiteral>(*python->value).value, definition.name.text);
    foreign.library = module;
    foreign.code = name;
    foreign.version = folder.string();
  } else if (const ast::Annotation* r = check_detail::find_annotation(definition.annotations, "r")) {
    foreign.kind = ir::ForeignKind::r;
    const auto [file, name] =
        check_detail::name_in_file(ast::as<ast::StringLiteral>(*r->value).value, definition.name.text);
    foreign.library = (folder / file).string();
    foreign.code = name;
  }
  const auto is_dense = [this](const ast::Formal& formal) { return types().is_dense(formal.resolved_type); };
  if (std::ranges::any_of(definition.inputs, is_dense) || std::ranges::any_of(definition.outputs, is_dense))
    return call_with_parts(definition, std::move(foreign));
  begin_foreign();
  function().foreign = std::move(foreign);
}

/// All parameters are its inputs.
void FunctionLowering::begin_foreign() {
  ir::Function& lowered = function();
  lowered.kind = ir::FunctionKind::foreign;
  for (std::size_t i = lowered.file_output_count; i < lowered.parameters.size(); ++i)
    lowered.command.words.push_back(ir::Operand::variable(lowered.parameters[i]));
}

FunctionLowering::Dense FunctionLowering::wanted_parts(const ast::Formal& output) {
  Dense parts;
  for (const ir::Operand wanted : declared_extents_.at(variable_of(output.variable)))
    parts.extents.push_back(wanted.index == ir::none
                                ? int_constant(-1)
                                : call_builtin_named("@extent", {text_constant("`" + output.name.text + "`"), wanted},
                                                     TypeStore::int_, output.name.span));
  return parts;
}

void FunctionLowering::call_with_parts(const ast::FunctionDefinition& definition, ir::Foreign foreign) {
  Operands checks = bind_extents(definition);
  const ir::FunctionId code = add_function(context_, definition.name.text, definition.name.span);
  FunctionLowering callee(context_, code);
  callee.function().placement = std::exchange(function().placement, vm::Placement::any);
  Operands inputs;
  std::vector<ir::VarId> results;
  std::vector<std::pair<ir::VarId, Dense>> made;
  const auto take = [&](const std::string& name, ir::Operand operand, std::uint32_t rank) {
    const ir::VarId parameter = callee.new_variable(name, type_of(operand), definition.name.span, 0);
    callee.function().parameters.push_back(parameter);
    foreign.ranks.push_back(rank);
    inputs.push_back(operand);
  };
  const auto lower = [&] {
    for (const ast::Formal& input : definition.inputs) {
      const ir::VarId variable = variable_of(input.variable);
      if (!types().is_dense(input.resolved_type)) {
        take(input.name.text, ir::Operand::variable(variable), 0);
        continue;
      }
      const Dense parts = copied_input(variable);
      take(input.name.text, parts.elements, types().rank(input.resolved_type));
      for (const ir::Operand extent : parts.extents) take("", extent, 0);
    }
    std::vector<std::uint32_t> ranks;
    const auto give = [&](const std::string& name, ir::VarId result, std::uint32_t rank) {
      results.push_back(result);
      ranks.push_back(rank);
      const ir::VarId given =
          callee.new_variable(name, type_of(ir::Operand::variable(result)), definition.name.span, 0);
      callee.function().outputs.push_back(given);
    };
    for (const ast::Formal& output : definition.outputs) {
      const ir::VarId variable = variable_of(output.variable);
      if (!types().is_dense(output.resolved_type)) {
        give(output.name.text, variable, 0);
        continue;
      }
      Dense parts = wanted_parts(output);
      for (const ir::Operand extent : parts.extents) take("", extent, 0);
      const ir::VarId elements = temporary(types().dense_elements(output.resolved_type), output.name.span);
      parts.elements = ir::Operand::variable(elements);
      give(output.name.text, elements, types().rank(output.resolved_type));
      for (std::size_t axis = 0; ir::gives_extents(foreign.kind) && axis < parts.extents.size(); ++axis) {
        const ir::VarId found = temporary(TypeStore::int_, output.name.span);
        give("", found, 0);
        if (declared_extents_.at(variable)[axis].index == ir::none) parts.extents[axis] = ir::Operand::variable(found);
      }
      made.emplace_back(variable, std::move(parts));
    }
    foreign.ranks.insert(foreign.ranks.end(), ranks.begin(), ranks.end());
    emit(OpKind::call, inputs, std::move(results), {}).callee = code;
    for (const auto& [variable, parts] : made) {
      const ir::Var whole = function().variables[variable];
      pack(parts, whole.type, whole.span, variable);
    }
  };
  if (checks.empty()) {
    lower();
  } else {
    const ir::RegionId region = in_region(lower);
    emit(OpKind::wait, std::move(checks), {}, definition.name.span).regions = {region};
  }
  callee.begin_foreign();
  callee.function().foreign = std::move(foreign);
}

/// Where both forms are given, they mean the same, and the template is simpler.
void FunctionLowering::lower_tcl(const ast::FunctionDefinition& definition) {
  ir::Foreign& foreign = function().foreign;
  foreign.kind = definition.tcl_template ? ir::ForeignKind::tcl_template : ir::ForeignKind::tcl_procedure;
  foreign.library = definition.tcl_package[0];
  foreign.version = definition.tcl_package[1];
  foreign.code = definition.tcl_template ? *definition.tcl_template : definition.tcl_package[2];
  for (const ast::Formal& output : definition.outputs) foreign.outputs.push_back(output.name.text);
  if (!definition.inputs.empty() && definition.inputs.back().varargs)
    foreign.varargs = definition.inputs.back().name.text;
}

}  // namespace raddle::lowering
