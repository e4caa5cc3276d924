#include "compiler/lower/lower_function.hpp"

#include <algorithm>
#include <stdexcept>

#include "compiler/lower/visit_tree.hpp"

namespace raddle::lowering {

using ast::as;
using ast::ExprKind;

FunctionLowering::FunctionLowering(ModuleContext& context, ir::FunctionId id) : context_(context), id_(id) {}

ir::VarId FunctionLowering::new_variable(std::string name, TypeId type, Span span, ir::RegionId region) {
  ir::Function& f = function();
  f.variables.push_back({std::move(name), type, span, region});
  return static_cast<ir::VarId>(f.variables.size() - 1);
}

ir::VarId FunctionLowering::add_parameter(ast::VariableId variable) {
  const Variable& checked = context_.program.variables[variable];
  const ir::VarId id = new_variable(checked.name, checked.type, checked.span, 0);
  function().parameters.push_back(id);
  variables_[variable] = id;
  return id;
}

ir::VarId FunctionLowering::add_output(ast::VariableId variable) {
  const Variable& checked = context_.program.variables[variable];
  const ir::VarId id = new_variable(checked.name, checked.type, checked.span, 0);
  function().outputs.push_back(id);
  variables_[variable] = id;
  return id;
}

void FunctionLowering::add_result(ast::VariableId variable) {
  const auto known = variables_.find(variable);
  if (known == variables_.end()) {
    add_output(variable);
    return;
  }
  // also a `@param`, or named twice
  const ir::Operand source = ir::Operand::variable(known->second);
  const Variable& checked = context_.program.variables[variable];
  emit(ir::OpKind::copy, {source}, {add_output(variable)}, checked.span);
  variables_[variable] = source.index;
}

ir::VarId FunctionLowering::add_limit_parameter(TypeId type) {
  const ir::VarId id = new_variable("", type, function().span, 0);
  function().parameters.push_back(id);
  return id;
}

void FunctionLowering::add_instance_signature(const ast::FunctionDefinition& definition,
                                              const std::vector<TypeId>& inputs, const std::vector<TypeId>& outputs) {
  const auto add = [&](const ast::Formal& formal, TypeId type) {
    return new_variable(formal.name.text, type, formal.span, 0);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ir::VarId output = add(definition.outputs[i], outputs[i]);
    const bool file = is_file(types(), outputs[i]);
    (file ? function().parameters : function().outputs).push_back(output);
    function().file_output_count += file ? 1 : 0;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    function().parameters.push_back(add(definition.inputs[std::min(i, definition.inputs.size() - 1)], inputs[i]));
}

ir::VarId FunctionLowering::declare(ast::VariableId variable) {
  const auto known = variables_.find(variable);
  if (known != variables_.end()) return known->second;  // a parameter or output of the entry
  const Variable& checked = context_.program.variables[variable];
  const ir::VarId id = local(checked.name, checked.type, checked.span, scope_);
  variables_[variable] = id;
  return id;
}

ir::VarId FunctionLowering::local(std::string name, TypeId type, Span span, ir::RegionId region) {
  const ir::VarId id = new_variable(std::move(name), type, span, region);
  function().regions[region].variables.push_back(id);
  return id;
}

ir::VarId FunctionLowering::region_parameter(ir::RegionId region, ast::VariableId variable) {
  const Variable& checked = context_.program.variables[variable];
  const ir::VarId id = new_variable(checked.name, checked.type, checked.span, region);
  function().regions[region].parameters.push_back(id);
  variables_[variable] = id;
  return id;
}

ir::VarId FunctionLowering::variable_of(ast::VariableId variable) {
  const auto found = variables_.find(variable);
  if (found != variables_.end()) return found->second;
  const Variable& checked = context_.program.variables[variable];
  if (checked.role != VariableRole::global || id_ != context_.module.entry)
    throw std::logic_error("lowering: `" + checked.name + "` is not declared here");
  // a function that reads it is called before its declaration
  return variables_[variable] = local(checked.name, checked.type, checked.span, 0);
}

ir::RegionId FunctionLowering::new_region() {
  ir::Region& region = function().regions.emplace_back();
  region.parent = region_;
  return static_cast<ir::RegionId>(function().regions.size() - 1);
}

ir::Op& FunctionLowering::emit(ir::OpKind kind, Operands operands, std::vector<ir::VarId> results, Span span) {
  ir::Op& op = function().regions[region_].ops.emplace_back();
  op.kind = kind;
  op.operands = std::move(operands);
  op.results = std::move(results);
  op.span = span;
  if (kind == ir::OpKind::foreach_range || kind == ir::OpKind::foreach_array) op.placement = placement_;
  return op;
}

ir::Operand FunctionLowering::emit_value(ir::OpKind kind, Operands operands, TypeId type, Span span, ir::VarId target) {
  const ir::VarId result = target == ir::none ? temporary(type, span) : target;
  emit(kind, std::move(operands), {result}, span);
  return ir::Operand::variable(result);
}

TypeId FunctionLowering::type_of(const ir::Operand& operand) {
  return ir::type_of(context_.module, function(), operand);
}

Diagnostic& FunctionLowering::not_supported(Span span, std::string_view what) {
  return context_.diagnostics.report(DiagnosticKind::not_supported, span, what);
}

// ---------------------------------------------------------------- containers written piece by piece

void FunctionLowering::find_containers(const ast::Stmt& body) {
  const TreeVisitor visitor{.expression = [](const ast::Expr&) {},
                            .target =
                                [this](const ast::Expr& target, bool appends) {
                                  // `s.i.b[0] = 7`: the fields i and i.b of s are containers; `s.x = 1`: none but s
                                  // itself; `s.x += 1`: the bag s.x
                                  std::vector<std::uint32_t> path;
                                  std::vector<bool> is_written_into;
                                  const ast::Expr* at = &target;
                                  bool inside = appends;
                                  for (;;) {
                                    if (at->kind == ExprKind::Index) {
                                      if (!path.empty()) return;  // a field of an element: refused by check
                                      at = as<ast::Index>(*at).base.get();
                                      inside = true;
                                    } else if (at->kind == ExprKind::Field) {
                                      path.push_back(as<ast::Field>(*at).index);
                                      is_written_into.push_back(inside);
                                      at = as<ast::Field>(*at).base.get();
                                      inside = true;
                                    } else {
                                      break;
                                    }
                                  }
                                  if (at->kind != ExprKind::Name || as<ast::Name>(*at).variable == ast::no_variable)
                                    return;
                                  std::ranges::reverse(path);
                                  std::reverse(is_written_into.begin(), is_written_into.end());
                                  for (; !path.empty(); path.pop_back(), is_written_into.pop_back())
                                    if (is_written_into.back())
                                      containers_[{as<ast::Name>(*at).variable, path}] = ir::none;
                                }};
  visit_statement(body, visitor);
}

void FunctionLowering::create_container(ast::VariableId variable, ir::VarId var) {
  const TypeId type = context_.program.variables[variable].type;
  const Span span = context_.program.variables[variable].span;
  // where the variable is declared, not where a chain has got to
  const ir::RegionId here = std::exchange(region_, scope_);
  const TypeKind kind = types().kind(types().base(type));
  if (types().is_dense(type)) {
    create_dense(variable, var);
  } else if (kind == TypeKind::array) {
    emit(ir::OpKind::array_new, {}, {var}, span);
  } else if (kind == TypeKind::bag) {
    emit(ir::OpKind::bag_new, {}, {var}, span);
  } else if (kind == TypeKind::structure) {
    emit(ir::OpKind::struct_new, {}, {var}, span);
    create_fields(variable, var, {});
  }
  region_ = here;
}

void FunctionLowering::create_fields(ast::VariableId variable, ir::VarId structure,
                                     const std::vector<std::uint32_t>& path) {
  const Span span = context_.program.variables[variable].span;
  const std::vector<StructType::Field>& fields =
      types().structure(types().base(function().variables[structure].type)).fields;
  for (std::uint32_t i = 0; i < fields.size(); ++i) {
    std::vector<std::uint32_t> inner = path;
    inner.push_back(i);
    const auto found = containers_.find({variable, inner});
    if (found == containers_.end()) continue;
    const StructType::Field& field = fields[i];
    const ir::VarId var = local(function().variables[structure].name + "." + field.name, field.type, span, region_);
    const TypeKind kind = types().kind(types().base(field.type));
    emit(kind == TypeKind::structure ? ir::OpKind::struct_new
         : kind == TypeKind::bag     ? ir::OpKind::bag_new
                                     : ir::OpKind::array_new,
         {}, {var}, span);
    emit(ir::OpKind::struct_set, {ir::Operand::variable(structure), ir::Operand::variable(var)}, {}, span).number = i;
    found->second = var;
    if (kind == TypeKind::structure) create_fields(variable, var, inner);
  }
}

void FunctionLowering::lower_function_block(const ast::FunctionDefinition& definition,
                                            const std::vector<ast::VariableId>& outputs) {
  placement_ = function().placement;
  Operands checks = bind_extents(definition);
  find_containers(*definition.block);
  const auto lower = [&] {
    body_ = region_;
    for (const ast::VariableId output : outputs)
      if (context_.program.variables[output].written_by_element) create_container(output, variable_of(output));
    lower_block(*definition.block);
  };
  if (checks.empty()) return lower();
  // nothing is done with inputs that do not fit
  const ir::RegionId region = in_region(lower);
  emit(ir::OpKind::wait, std::move(checks), {}, definition.name.span).regions = {region};
}

bool FunctionLowering::is_declared_here(ir::VarId variable) const {
  const ir::RegionId declared = context_.module.functions[id_].variables[variable].region;
  return declared == region_ || (declared == 0 && region_ == body_);
}

}  // namespace raddle::lowering
