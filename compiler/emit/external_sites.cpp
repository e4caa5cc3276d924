#include "compiler/emit/external_sites.hpp"

#include <algorithm>

#include "compiler/ir/written_name.hpp"

namespace raddle::emit {

namespace {

vm::ValueKind value_kind(TypeKind kind) {
  switch (kind) {
    case TypeKind::int_: return vm::ValueKind::int_;
    case TypeKind::float_: return vm::ValueKind::float_;
    case TypeKind::boolean: return vm::ValueKind::boolean;
    case TypeKind::int32: return vm::ValueKind::int32;
    case TypeKind::float32: return vm::ValueKind::float32;
    case TypeKind::string: return vm::ValueKind::string;
    case TypeKind::array: return vm::ValueKind::array;
    case TypeKind::bag: return vm::ValueKind::bag;
    case TypeKind::structure: return vm::ValueKind::structure;
    case TypeKind::file:
    case TypeKind::url: return vm::ValueKind::file;
    case TypeKind::blob: return vm::ValueKind::blob;
    case TypeKind::updateable: return vm::ValueKind::updateable;
    case TypeKind::void_: return vm::ValueKind::void_;
    case TypeKind::error:
    case TypeKind::named: break;  // an error does not come here, a named type by its base
  }
  return vm::ValueKind::none;
}

/// Words of the app are computed from the variable.
bool is_used(const ir::Function& app, ir::VarId variable) {
  for (const ir::Region& region : app.regions)
    for (const ir::Op& op : region.ops)
      if (std::ranges::find(op.operands, ir::Operand::variable(variable)) != op.operands.end()) return true;
  return false;
}

}  // namespace

vm::ForeignType foreign_type(const TypeStore& types, TypeId type) {
  const TypeId base = types.base(type);
  vm::ForeignType foreign{.kind = value_kind(types.kind(base)), .key = vm::ValueKind::none, .element = {}};
  if (types.is_array(base)) foreign.key = value_kind(types.kind(types.base(types.at(base).key)));
  if (foreign.kind == vm::ValueKind::array || foreign.kind == vm::ValueKind::bag)
    foreign.element.push_back(foreign_type(types, types.at(base).element));
  if (foreign.kind == vm::ValueKind::structure) {
    for (const StructType::Field& field : types.structure(base).fields) {
      foreign.fields.push_back(field.name);
      foreign.element.push_back(foreign_type(types, field.type));
    }
  }
  return foreign;
}

vm::ForeignFunction foreign_function(const TypeStore& types, const ir::Function& function) {
  vm::ForeignFunction foreign;
  foreign.name = ir::written_name(function);
  foreign.place = {function.span.file, function.span.begin, function.span.end};
  foreign.kind = static_cast<vm::ForeignKind>(function.foreign.kind);
  foreign.library = function.foreign.library;
  foreign.version = function.foreign.version;
  foreign.code = function.foreign.code;
  // in the library `f_` is a part of `f`
  if (foreign.library.starts_with('<') && foreign.name.ends_with('_')) foreign.name.pop_back();
  foreign.declared_outputs = function.foreign.outputs;
  foreign.varargs = function.foreign.varargs;
  const std::vector<std::uint32_t>& ranks = function.foreign.ranks;
  const auto describe = [&](ir::VarId id, std::size_t place) -> vm::ForeignFormal {
    return {function.variables[id].name, foreign_type(types, function.variables[id].type),
            ranks.empty() ? 0 : ranks.at(place)};
  };
  for (std::uint32_t i = 0; i < function.parameters.size(); ++i)
    (i < function.file_output_count ? foreign.files : foreign.inputs).push_back(describe(function.parameters[i], i));
  for (std::size_t i = 0; i < function.outputs.size(); ++i)
    foreign.outputs.push_back(describe(function.outputs[i], function.parameters.size() + i));
  return foreign;
}

vm::AppSite app_site(const ir::Module& module, const ir::Function& function, const OperandMap& operands,
                     std::uint32_t body) {
  const ir::Command& command = function.command;
  vm::AppSite site;
  site.label = ir::written_name(function);
  site.words = operands.all(command.words, body);
  site.stdin_file = operands.of(command.stdin_file, body);
  site.stdout_file = operands.of(command.stdout_file, body);
  site.stderr_file = operands.of(command.stderr_file, body);
  const auto limit = [&](ir::AppLimit which) {
    return operands.of(command.limits[static_cast<std::size_t>(which)], body);
  };
  site.retry = limit(ir::AppLimit::retry);
  site.timeout = limit(ir::AppLimit::timeout);
  site.priority = limit(ir::AppLimit::prio);
  site.cores = limit(ir::AppLimit::cores);
  site.memory = limit(ir::AppLimit::memory);
  site.ok = limit(ir::AppLimit::ok);
  for (std::uint32_t i = 0; i < function.file_output_count; ++i) {
    site.file_outputs.push_back(operands.of(function.parameters[i], body));
    const TypeKind type = kind_of(module, function, ir::Operand::variable(function.parameters[i]));
    if (type == TypeKind::url) site.url_outputs.push_back(site.file_outputs.back());
    if (is_used(function, function.parameters[i])) site.named_outputs.push_back(site.file_outputs.back());
  }
  site.outputs = operands.all(function.outputs, body);
  for (std::size_t i = 0; i < site.outputs.size(); ++i)
    if (kind_of(module, function, ir::Operand::variable(function.outputs[i])) == TypeKind::int_)
      site.exit_code = site.outputs[i];
  return site;
}

}  // namespace raddle::emit
