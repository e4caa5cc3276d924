#include "compiler/lower/name_streams.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

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

/// Empty: it has no stream. Functions of one name have a number behind it, which depends on the others.
std::string_view name_of(const ir::Module& module, const ir::Op& op) {
  switch (op.kind) {
    case OpKind::call: {
      const std::string_view name = module.functions[op.callee].name;
      return name.substr(0, name.find('.'));
    }
    case OpKind::call_builtin: {
      const stdlib::Builtin& builtin = stdlib::builtins()[op.callee];
      return builtin.effect == stdlib::BuiltinEffect::draws ? builtin.name : std::string_view();
    }
    case OpKind::foreach_range:
    case OpKind::foreach_array: return "foreach";
    case OpKind::loop: return "for";
    default: return {};
  }
}

void name_streams(ir::Module& module, ir::FunctionId id) {
  std::map<std::uint64_t, std::string_view> names;  // by place
  const ir::Function& function = module.functions[id];
  for (const ir::Region& region : function.regions)
    for (const ir::Op& op : region.ops)
      if (const std::string_view name = name_of(module, op); !name.empty() && op.span.end != 0)
        names.try_emplace(ir::stream_place(op.span), name);
  std::map<std::pair<std::uint64_t, std::string_view>, std::uint64_t> counts;
  for (const auto& [place, name] : names) {
    const std::uint64_t file = id == module.entry ? place >> 32 : 0;
    const std::uint64_t number = counts[{file, name}]++;
    module.streams.try_emplace(place, hash_of(fmt::format("{} {} {}", name, number, file)));
  }
}

}  // namespace

void name_streams(ir::Module& module) {
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id) name_streams(module, id);
}

}  // namespace raddle::lowering
