#include "compiler/lower/name_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/written_name.hpp"
#include "compiler/source/source_buffer.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::lowering {

namespace {

using ir::OpKind;

/// FNV-1a: the same on every machine.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001B3ull;
  return hash;
}

/// Empty: it has no stream.
std::string name_of(const ir::Module& module, const ir::Op& op) {
  switch (op.kind) {
    case OpKind::call:
    case OpKind::call_app: return ir::written_name(module.functions[op.callee]);
    case OpKind::call_builtin: {
      const stdlib::Builtin& builtin = stdlib::builtins()[op.callee];
      return std::string(builtin.effect == stdlib::BuiltinEffect::draws ? builtin.name : std::string_view());
    }
    case OpKind::foreach_range:
    case OpKind::foreach_array: return op.is_whole ? "whole" : "foreach";
    case OpKind::loop: return "for";
    default: return {};
  }
}

/// Of a module its name, wherever it lies. The script itself may have any name; what is typed in a session is numbered.
std::string name_of_file(const ir::Module& module, std::uint32_t file) {
  if (file == module.functions[module.entry].span.file) return std::to_string(file);
  const std::string_view path = module.sources->at(file).path();
  return std::string(path.substr(path.rfind('/') + 1));
}

void name_streams(ir::Module& module, ir::FunctionId id) {
  ir::Function& function = module.functions[id];
  std::vector<ir::Op*> named;
  for (ir::Region& region : function.regions)
    for (ir::Op& op : region.ops)
      if (!name_of(module, op).empty()) named.push_back(&op);
  // what a macro makes has one place: it stays in the order in which it was lowered
  std::ranges::stable_sort(named, {}, [](const ir::Op* op) { return std::pair(op->span.file, op->span.begin); });
  std::map<std::pair<std::string, std::string>, unsigned> counts;
  for (ir::Op* const op : named) {
    const std::string file = id == module.entry ? name_of_file(module, op->span.file) : "0";
    const std::string name = name_of(module, *op);
    op->stream = hash_of(fmt::format("{} {} {}", name, counts[{file, name}]++, file));
  }
}

}  // namespace

void name_streams(ir::Module& module) {
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id) name_streams(module, id);
}

}  // namespace raddle::lowering
