#include "compiler/lower/name_files.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "stdlib/builtins.hpp"

namespace raddle::lowering {
namespace {

using ir::OpKind;

/// Files by the function and the variable that hold the object.
using Files = std::set<std::pair<ir::FunctionId, ir::VarId>>;

class FileNaming {
 public:
  explicit FileNaming(ir::Module& module) : module_(module) {}

  void run() {
    for_each_op([this](ir::FunctionId id, const ir::Op& op) { note(id, op); });
    for (std::size_t known = ir::none; known != aliased_.size();) {
      known = aliased_.size();
      for_each_op([this](ir::FunctionId id, const ir::Op& op) { note_outputs(id, op); });
    }
    find_named_inputs();
    for_each_op([this](ir::FunctionId id, ir::Op& op) {
      if (uses_name(op) && is_named(id, op.operands[0].index)) op.number = 1;
    });
  }

 private:
  template <typename Visitor>
  void for_each_op(const Visitor& visitor) {
    for (ir::FunctionId id = 0; id < module_.functions.size(); ++id)
      for (ir::Region& region : module_.functions[id].regions)
        for (ir::Op& op : region.ops) visitor(id, op);
  }

  void note(ir::FunctionId id, const ir::Op& op) {
    if (op.kind == OpKind::file_new) made_.insert({id, op.results[0]});
    if (op.kind == OpKind::file_assign) aliased_.insert({id, op.operands[0].index});
  }
  /// What a function does with its outputs is done to the variables of its caller.
  void note_outputs(ir::FunctionId id, const ir::Op& op) {
    if (op.kind != OpKind::call) return;
    const ir::Function& callee = module_.functions[op.callee];
    for (std::uint32_t i = 0; i < callee.file_output_count; ++i)
      if (aliased_.contains({op.callee, callee.parameters[i]})) aliased_.insert({id, op.operands[i].index});
  }

  static bool uses_name(const ir::Op& op) {
    if (op.kind != OpKind::call_builtin || op.operands.empty() || op.operands[0].is_constant) return false;
    return stdlib::signature_of(op.callee).uses_name_of(stdlib::BasicType::file);
  }
  /// Every file that is an input is taken to be named until a call is found that gives it another file.
  void find_named_inputs() {
    for_each_op([this](ir::FunctionId, const ir::Op& op) {
      if (op.kind != OpKind::call) return;
      const ir::Function& callee = module_.functions[op.callee];
      for (std::size_t i = callee.file_output_count; i < callee.parameters.size(); ++i)
        if (module_.types->base(callee.variables[callee.parameters[i]].type) == TypeStore::file)
          named_inputs_.insert({op.callee, callee.parameters[i]});
    });
    for (std::size_t known = ir::none; known != named_inputs_.size();) {
      known = named_inputs_.size();
      for_each_op([this](ir::FunctionId id, const ir::Op& op) { drop_unnamed_inputs(id, op); });
    }
  }
  void drop_unnamed_inputs(ir::FunctionId id, const ir::Op& op) {
    if (op.kind != OpKind::call) return;
    const ir::Function& callee = module_.functions[op.callee];
    for (std::size_t i = callee.file_output_count; i < callee.parameters.size(); ++i)
      if (op.operands[i].is_constant || !is_named(id, op.operands[i].index))
        named_inputs_.erase({op.callee, callee.parameters[i]});
  }

  bool is_named(ir::FunctionId id, ir::VarId file) const {
    const ir::Function& function = module_.functions[id];
    const auto end = function.parameters.begin() + function.file_output_count;
    const bool is_output = std::find(function.parameters.begin(), end, file) != end;
    const bool is_made = made_.contains({id, file}) || named_inputs_.contains({id, file});
    return (is_output || is_made) && !aliased_.contains({id, file});
  }

  ir::Module& module_;
  Files made_, aliased_, named_inputs_;
};

}  // namespace

void name_files(ir::Module& module) { FileNaming(module).run(); }

}  // namespace raddle::lowering
