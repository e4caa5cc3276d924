// Note [key]. The code depends on the leaf and those it calls, on options, the compiler and the CPU. The leaves are
// taken as the text of the IR, which is complete: reading it gives the same IR again. It has the positions of
// operations, and must, for code that fails says where. It names types, and scripts may give one name to different
// types, so what each variable is comes besides. Numbers of functions and names of the script's files do not count.
#include "compiler/codegen/leaf_key.hpp"

#include <algorithm>
#include <vector>

#include "compiler/ir/print.hpp"

namespace raddle::codegen {
namespace {

/// `leaf` and all that it may call, each once.
std::vector<ir::FunctionId> reached(const ir::Module& module, ir::FunctionId leaf) {
  std::vector<ir::FunctionId> found = {leaf};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const ir::Region& region : module.functions.at(found[i]).regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == ir::OpKind::call && std::ranges::find(found, op.callee) == found.end())
          found.push_back(op.callee);
  return found;
}

void append_type(std::string& text, const TypeStore& types, TypeId type) {
  const TypeId base = types.base(type);
  text += std::to_string(static_cast<unsigned>(types.kind(base))) + " ";
  if (types.kind(base) == TypeKind::array) append_type(text, types, types.at(base).element);
}

}  // namespace

std::string leaf_key(const LeafSource& source, ir::FunctionId leaf, std::string_view compiler, std::string_view cpu) {
  const ir::Module& module = *source.module;
  std::string text = source.unrolls_recursion ? "unrolls recursion\n" : "\n";
  text.append(compiler).append("\n").append(cpu).append("\n");
  for (const ir::FunctionId id : reached(module, leaf)) {
    const ir::Function& function = module.functions[id];
    text += ir::print(module, function);
    for (const ir::Var& variable : function.variables) append_type(text, *module.types, variable.type);
  }
  return text;
}

}  // namespace raddle::codegen
