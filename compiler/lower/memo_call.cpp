#include "compiler/lower/memo_call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/written_name.hpp"

namespace raddle::lowering {

namespace {

using ir::Operand;
using ir::OpKind;
using ir::VarId;

constexpr ir::RegionId miss = 1;

/// A type whose values can not be kept, in `type`. @return error if there is none
TypeId unkept_type(const TypeStore& types, TypeId type) {
  const TypeId base = types.base(type);
  switch (types.kind(base)) {
    case TypeKind::url:
    case TypeKind::updateable: return base;
    case TypeKind::array:
    case TypeKind::bag: return unkept_type(types, types.at(base).element);
    case TypeKind::structure: {
      TypeId found = TypeStore::error;
      for (const StructType::Field& field : types.structure(base).fields)
        if (found == TypeStore::error) found = unkept_type(types, field.type);
      return found;
    }
    case TypeKind::int_:
    case TypeKind::float_:
    case TypeKind::string:
    case TypeKind::boolean:
    case TypeKind::int32:
    case TypeKind::float32:
    case TypeKind::void_:
    case TypeKind::blob:
    case TypeKind::file:
    case TypeKind::named:
    case TypeKind::error: return TypeStore::error;
  }
  return TypeStore::error;
}

class MemoLowering {
 public:
  MemoLowering(ModuleContext& context, ir::FunctionId caller, ir::FunctionId body, std::size_t limits)
      : context_(context),
        caller_(context.module.functions[caller]),
        callee_(context.module.functions[body]),
        body_(body),
        limits_(limits) {}

  void run() {
    caller_.file_output_count = callee_.file_output_count;
    for (const VarId parameter : callee_.parameters) caller_.parameters.push_back(copy(parameter));
    for (const VarId output : callee_.outputs) caller_.outputs.push_back(copy(output));
    check();
    caller_.regions.emplace_back().parent = 0;
    key_ = add("", TypeStore::string, 0);
    caller_.regions[0].variables.push_back(key_);
    caller_.regions[0].ops.push_back(find());
    ir::Op call = op(callee_.kind == ir::FunctionKind::app ? OpKind::call_app : OpKind::call);
    call.span = {};  // it is nowhere in the text
    call.callee = body_;
    call.operands = operands(caller_.parameters);
    call.results = caller_.outputs;
    caller_.regions[miss].ops.push_back(std::move(call));
    caller_.regions[miss].ops.push_back(keep());
  }

 private:
  VarId add(std::string name, TypeId type, ir::RegionId region) {
    caller_.variables.push_back({std::move(name), type, caller_.span, region});
    return static_cast<VarId>(caller_.variables.size() - 1);
  }
  VarId copy(VarId id) {
    caller_.variables.push_back(callee_.variables[id]);
    return static_cast<VarId>(caller_.variables.size() - 1);
  }
  ir::Op op(OpKind kind) const {
    ir::Op made;
    made.kind = kind;
    made.span = caller_.span;
    return made;
  }
  static std::vector<Operand> operands(const std::vector<VarId>& ids) {
    std::vector<Operand> all;
    for (const VarId id : ids) all.push_back(Operand::variable(id));
    return all;
  }

  ir::Op find() {
    ir::Op find = op(OpKind::memo);
    const std::string name = ir::written_name(caller_);
    find.operands = operands(caller_.parameters);
    find.operands.resize(find.operands.size() - limits_);
    find.operands.insert(find.operands.begin(), {Operand::constant(context_.module.constant(name)),
                                                 Operand::constant(context_.module.constant(std::string()))});
    find.results = caller_.outputs;
    find.results.insert(find.results.begin(), key_);
    find.number = caller_.file_output_count;
    find.regions = {miss};
    return find;
  }
  ir::Op keep() {
    ir::Op keep = op(OpKind::memo_keep);
    keep.operands = {Operand::variable(key_)};
    for (std::uint32_t i = 0; i < caller_.file_output_count; ++i)
      keep.operands.push_back(Operand::variable(caller_.parameters[i]));
    std::ranges::copy(operands(caller_.outputs), std::back_inserter(keep.operands));
    keep.number = caller_.file_output_count;
    return keep;
  }

  void report(Span span, std::string_view name, std::string_view what) {
    context_.diagnostics.report(DiagnosticKind::bad_memo, span, name, what);
  }
  void check() {
    const std::string name = ir::written_name(caller_);
    if (caller_.file_output_count == 0 && caller_.outputs.empty())
      report(caller_.span, name, "has no outputs: there is nothing to keep");
    for (std::size_t i = 0; i < caller_.parameters.size(); ++i)
      check(name, caller_.parameters[i], i < caller_.file_output_count ? "output" : "input");
    for (const VarId output : caller_.outputs) check(name, output, "output");
  }
  void check(const std::string& name, VarId id, std::string_view role) {
    const ir::Var& variable = caller_.variables[id];
    const TypeId unkept = unkept_type(*context_.module.types, variable.type);
    if (unkept == TypeStore::error) return;
    const bool is_updateable = context_.module.types->kind(unkept) == TypeKind::updateable;
    report(variable.span, name,
           fmt::format("its {} `{}` {} {} `{}`, {}", role, variable.name, unkept == variable.type ? "is" : "has",
                       is_updateable ? "an" : "a", context_.module.types->name(unkept),
                       is_updateable ? "whose value changes while the script runs" : "whose content is not here"));
  }

  ModuleContext& context_;
  ir::Function& caller_;
  const ir::Function& callee_;
  const ir::FunctionId body_;
  const std::size_t limits_;
  VarId key_ = ir::none;
};

}  // namespace

void lower_memo(ModuleContext& context, ir::FunctionId caller, ir::FunctionId body, std::size_t limits) {
  MemoLowering(context, caller, body, limits).run();
}

}  // namespace raddle::lowering
