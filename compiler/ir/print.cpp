#include "compiler/ir/print.hpp"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "stdlib/builtin_names.hpp"

namespace raddle::ir {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string float_text(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string constant_text(const Constant& constant) {
  if (const auto* value = std::get_if<std::int64_t>(&constant)) return std::to_string(*value);
  if (const auto* value = std::get_if<double>(&constant)) return float_text(*value);
  if (const auto* value = std::get_if<std::string>(&constant)) return quoted(*value);
  return std::get<bool>(constant) ? "true" : "false";
}

/// @pre not `any`
const char* word_of(vm::Placement placement) { return placement == vm::Placement::cpu ? "cpu" : "gpu"; }

/// Unique names of one function's variables, given in the order in which they are declared in the text.
class Names {
 public:
  explicit Names(const Function& function) : function_(function), texts_(function.variables.size()) {
    add_all(function.parameters);
    add_all(function.outputs);
    if (!function.regions.empty()) add_region(0);
  }
  const std::string& of(VarId id) const { return texts_[id]; }
  /// True if the operation, the first in its region to assign `id`, declares it.
  bool declares(const Op& op, VarId id) const {
    const auto found = declared_by_.find(id);
    return found != declared_by_.end() && found->second == &op;
  }
  bool has_own_line(VarId id) const { return !declared_by_.contains(id); }

 private:
  void add_all(const std::vector<VarId>& ids) {
    for (const VarId id : ids) add(id);
  }
  void add_region(RegionId id) {
    const Region& region = function_.regions[id];
    add_all(region.parameters);
    std::unordered_set<VarId> own(region.variables.begin(), region.variables.end());
    for (const Op& op : region.ops)
      for (const VarId result : op.results)
        if (own.contains(result)) declared_by_.try_emplace(result, &op);
    for (const VarId variable : region.variables)
      if (has_own_line(variable)) add(variable);
    for (const Op& op : region.ops) {
      for (const VarId result : op.results)
        if (declares(op, result)) add(result);
      for (const RegionId nested : op.regions) add_region(nested);
    }
  }
  void add(VarId id) {
    std::string& text = texts_[id];
    if (!text.empty()) return;
    const std::string& name = function_.variables[id].name;
    if (name.empty()) {
      text = std::to_string(nameless_++);
      return;
    }
    const unsigned earlier = uses_[name]++;
    text = earlier == 0 ? name : fmt::format("{}.{}", name, earlier);
  }

  const Function& function_;
  std::vector<std::string> texts_;
  std::unordered_map<VarId, const Op*> declared_by_;
  std::unordered_map<std::string, unsigned> uses_;
  unsigned nameless_ = 0;
};

class FunctionPrinter {
 public:
  FunctionPrinter(const Module& module, const Function& function, Positions positions)
      : module_(module), function_(function), names_(function), positions_(positions) {}

  std::string run() {
    out_ = fmt::format("function @{} {} ", function_.name, kind_text());
    if (function_.file_output_count != 0) out_ += fmt::format("files {} ", function_.file_output_count);
    if (function_.demands_leaf) out_ += "demands_leaf ";
    if (function_.placement != vm::Placement::any) out_ += fmt::format("on_{} ", word_of(function_.placement));
    if (!function_.not_leaf_reason.empty()) out_ += fmt::format("not_leaf {} ", quoted(function_.not_leaf_reason));
    out_ += fmt::format("({}) -> ({}){} {{\n", declarations(function_.parameters), declarations(function_.outputs),
                        position(function_.span));
    region_contents(0, "  ");
    for (const IndexLaunch& each : function_.launches) launch(each);
    for (const LaunchNest& each : function_.nests) nest(each);
    for (const LoopKernel& each : function_.kernels) loop_kernel(each);
    if (!function_.command.words.empty()) command();
    if (function_.kind == FunctionKind::foreign) foreign();
    return out_ + "}\n";
  }

 private:
  const char* kind_text() const {
    switch (function_.kind) {
      case FunctionKind::composite: return "composite";
      case FunctionKind::leaf: return "leaf";
      case FunctionKind::launched: return "launched";
      case FunctionKind::outlined: return "outlined";
      case FunctionKind::app: return "app";
      case FunctionKind::foreign: return "foreign";
    }
    return "";
  }

  std::string position(Span span) const {
    if (positions_ == Positions::omit || (span.file == 0 && span.begin == 0 && span.end == 0)) return "";
    return fmt::format(" !{}:{}-{}", span.file, span.begin, span.end);
  }

  std::string operand(Operand operand) const {
    return operand.is_constant ? constant_text(module_.constants[operand.index]) : "%" + names_.of(operand.index);
  }
  std::string operands(const std::vector<Operand>& list) const {
    std::string text;
    for (const Operand each : list) text += (text.empty() ? "" : ", ") + operand(each);
    return text;
  }

  std::string typed(VarId id) const {
    return fmt::format("%{}: {}", names_.of(id), module_.types->name(function_.variables[id].type));
  }
  std::string declarations(const std::vector<VarId>& ids) const {
    std::string text;
    for (const VarId id : ids) text += (text.empty() ? "" : ", ") + typed(id) + position(function_.variables[id].span);
    return text;
  }

  void region_contents(RegionId id, const std::string& indent) {
    const Region& region = function_.regions[id];
    for (const VarId variable : region.variables)
      if (names_.has_own_line(variable))
        out_ += fmt::format("{}var {}{}\n", indent, typed(variable), position(function_.variables[variable].span));
    for (const Op& op : region.ops) print_op(op, indent);
  }

  std::string results(const Op& op) const {
    std::string text;
    for (const VarId id : op.results) {
      if (!text.empty()) text += ", ";
      const Span span = function_.variables[id].span;
      const bool same = span.file == op.span.file && span.begin == op.span.begin && span.end == op.span.end;
      text += names_.declares(op, id) ? typed(id) + (same ? "" : var_position(span)) : "%" + names_.of(id);
    }
    return text.empty() ? text : text + " = ";
  }

  /// Of a variable declared by an operation: also an absent position must be told from the operation's.
  std::string var_position(Span span) const {
    return positions_ == Positions::omit ? "" : fmt::format(" !{}:{}-{}", span.file, span.begin, span.end);
  }

  void print_op(const Op& op, const std::string& indent) {
    out_ += indent + results(op) + info(op.kind).text + callee(op);
    if (!op.operands.empty()) out_ += " " + operands(op.operands);
    out_ += attributes(op);
    for (const RegionId nested : op.regions) {
      out_ += " {";
      if (!function_.regions[nested].parameters.empty())
        out_ += fmt::format("({})", declarations(function_.regions[nested].parameters));
      out_ += "\n";
      region_contents(nested, indent + "  ");
      out_ += indent + "}";
    }
    out_ += position(op.span) + "\n";
  }

  std::string callee(const Op& op) const {
    if (op.callee == none) return "";
    if (op.kind == OpKind::call_builtin) return " @" + stdlib::builtin_text(op.callee);
    return " @" + module_.functions[op.callee].name;
  }

  std::string attributes(const Op& op) const {
    std::string text;
    if (op.kind == OpKind::array_new || op.kind == OpKind::bag_new) text += fmt::format(" writers {}", op.number);
    if (op.is_reduced) text += op.has_deviation ? " reduced_to_deviation" : " reduced";
    if (op.is_filled) text += " filled";
    if (op.is_tracked) text += " tracked";
    if (op.fill_order != FillOrder::any) text += op.fill_order == FillOrder::up ? " up" : " down";
    if (op.is_chain) text += " chain";
    if (op.is_needed) text += " needed";
    if (op.is_whole) text += " whole";
    if (op.swallowed != 0) text += fmt::format(" swallowed {}", op.swallowed);
    if (op.barrier != vm::Barrier::none)
      text += fmt::format(" behind {}", vm::barrier_names[static_cast<std::size_t>(op.barrier)]);
    if (op.placement != vm::Placement::any) text += fmt::format(" on_{}", word_of(op.placement));
    if (op.kind == OpKind::struct_get || op.kind == OpKind::struct_set) text += fmt::format(" field {}", op.number);
    if (op.kind == OpKind::call_builtin && op.number != 0) text += " names";
    if (op.kind == OpKind::file_new && op.number % 2 != 0) text += " replaces";
    if (op.kind == OpKind::file_new && op.number > 1) text += fmt::format(" ordered {}", op.number / 2);
    if (op.kind == OpKind::update) text += fmt::format(" mode {}", update_modes[op.number]);
    if (op.kind == OpKind::memo || op.kind == OpKind::memo_keep) text += fmt::format(" files {}", op.number);
    if (op.kind == OpKind::switch_) text += fmt::format(" labels [{}]", fmt::join(op.labels, ", "));
    if (!op.operand_types.empty()) {
      std::vector<std::string> types;
      for (const TypeId type : op.operand_types) types.push_back(module_.types->name(type));
      text += fmt::format(" types [{}]", fmt::join(types, ", "));
    }
    if (op.priority.index != none) text += " prio " + operand(op.priority);
    if (op.rank.index != none) text += " rank " + operand(op.rank);
    if (op.condition.index != none) text += " test " + operand(op.condition);
    if (!op.nexts.empty()) text += " next " + operands(op.nexts);
    if (op.launch != none) text += fmt::format(" launch {}", op.launch);
    if (op.nest != none) text += fmt::format(" nest {}", op.nest);
    if (op.kernel != none) text += fmt::format(" kernel {}", op.kernel);
    if (op.test_after) text += " after";
    return text;
  }

  std::string name_of(FunctionId id) const { return " @" + module_.functions[id].name; }

  void launch(const IndexLaunch& launch) {
    out_ += "  launch" + name_of(launch.kernel);
    if (!launch.captures.empty()) out_ += " captures " + operands(launch.captures);
    if (launch.projection != none) out_ += " projection" + name_of(launch.projection);
    if (!launch.projected.empty()) out_ += " projected " + operands(launch.projected);
    for (const Access& access : launch.accesses) {
      out_ += fmt::format("\n    {} {}", access_modes[static_cast<std::size_t>(access.mode)], operand(access.data));
      if (!access.keys.empty()) out_ += keys(access.keys);
      out_ += position(access.span);
    }
    out_ += "\n";
  }
  std::string keys(const std::vector<Key>& keys) const {
    std::vector<std::string> texts;
    for (const Key& key : keys)
      texts.push_back(key.kind == Key::Kind::point    ? "point"
                      : key.kind == Key::Kind::same   ? operand(key.operand)
                      : key.kind == Key::Kind::affine ? affine(key)
                                                      : fmt::format("#{}", key.result));
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
  std::string affine(const Key& key) const {
    std::string text = key.stride == 0 ? "" : "point";
    if (key.stride != 0 && key.stride != 1) text += fmt::format(" times {}", key.stride);
    if (key.has_operand()) text += (text.empty() ? "" : " plus ") + operand(key.operand);
    return key.offset == 0 ? text : text + fmt::format(" plus {}", key.offset);
  }

  void nest(const LaunchNest& nest) {
    out_ += fmt::format("  nest {}", nest.launch) + name_of(nest.prelude);
    if (!nest.captures.empty()) out_ += " captures " + operands(nest.captures);
    std::vector<std::string> values;
    for (const VarId value : nest.values) values.push_back("%" + names_.of(value));
    out_ += fmt::format(" values {}\n", fmt::join(values, ", "));
  }

  void loop_kernel(const LoopKernel& kernel) {
    out_ += "  kernel" + name_of(kernel.kernel);
    if (!kernel.captures.empty()) out_ += " captures " + operands(kernel.captures);
    for (const LoopSink& sink : kernel.sinks) {
      out_ += fmt::format("\n    {} {}", sink.is_sometimes ? "sometimes" : "always", operand(sink.array));
      if (sink.history != 0) out_ += fmt::format(" back {} times {}", sink.history, sink.stride);
      out_ += position(sink.span);
    }
    out_ += "\n";
  }

  void command() {
    const Command& command = function_.command;
    out_ += "  command " + operands(command.words);
    if (command.stdin_file.index != none) out_ += " stdin " + operand(command.stdin_file);
    if (command.stdout_file.index != none) out_ += " stdout " + operand(command.stdout_file);
    if (command.stderr_file.index != none) out_ += " stderr " + operand(command.stderr_file);
    for (std::size_t i = 0; i < app_limits.size(); ++i)
      if (command.limits[i].index != none)
        out_ += fmt::format(" {} {}", app_limits[i].name, operand(command.limits[i]));
    out_ += "\n";
  }

  void foreign() {
    const Foreign& foreign = function_.foreign;
    out_ += fmt::format("  code {} {} {} {} {} {}", static_cast<int>(foreign.kind), quoted(foreign.library),
                        quoted(foreign.version), quoted(foreign.code),
                        quoted(fmt::format("{}", fmt::join(foreign.outputs, " "))), quoted(foreign.varargs));
    if (!foreign.ranks.empty()) out_ += fmt::format(" ranks [{}]", fmt::join(foreign.ranks, ", "));
    out_ += "\n";
  }

  const Module& module_;
  const Function& function_;
  Names names_;
  Positions positions_;
  std::string out_;
};

/// Definitions of the types that a module uses.
class TypePrinter {
 public:
  explicit TypePrinter(const Module& module) : types_(*module.types) {
    for (const Function& function : module.functions) {
      for (const Var& variable : function.variables) add(variable.type);
      for (const Region& region : function.regions)
        for (const Op& op : region.ops)
          for (const TypeId type : op.operand_types) add(type);
    }
  }
  const std::string& text() const { return out_; }

 private:
  void add(TypeId id) {
    if (!seen_.insert(id).second) return;
    const Type& type = types_.at(id);
    switch (type.kind) {
      case TypeKind::array: add(type.key); return add(type.element);
      case TypeKind::bag: return add(type.element);
      case TypeKind::named:
        add(type.element);
        out_ += fmt::format("type {} = {}\n", types_.name(id), types_.name(type.element));
        return;
      case TypeKind::structure: return structure(id);
      case TypeKind::error:
      case TypeKind::int_:
      case TypeKind::float_:
      case TypeKind::string:
      case TypeKind::boolean:
      case TypeKind::int32:
      case TypeKind::float32:
      case TypeKind::void_:
      case TypeKind::blob:
      case TypeKind::file:
      case TypeKind::url:
      case TypeKind::updateable: return;
    }
  }
  void structure(TypeId id) {
    if (types_.is_dense(id)) return;  // its name says all
    std::string fields;
    for (const StructType::Field& field : types_.structure(id).fields) {
      add(field.type);
      fields += fmt::format(" {} {};", types_.name(field.type), field.name);
    }
    out_ += fmt::format("struct {} {{{} }}\n", types_.name(id), fields);
  }

  const TypeStore& types_;
  std::unordered_set<TypeId> seen_;
  std::string out_;
};

}  // namespace

std::string print(const Module& module, const Function& function, Positions positions) {
  return FunctionPrinter(module, function, positions).run();
}

std::string print(const Module& module, Positions positions) {
  std::string out = TypePrinter(module).text();
  if (module.script != module.entry) out += fmt::format("script @{}\n", module.functions[module.script].name);
  if (module.entry < module.functions.size()) out += fmt::format("entry @{}\n", module.functions[module.entry].name);
  for (const Function& function : module.functions) out += "\n" + print(module, function, positions);
  return out;
}

}  // namespace raddle::ir
