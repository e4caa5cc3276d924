#include "compiler/emit/library_site.hpp"

#include "stdlib/builtins.hpp"

namespace raddle::emit {

namespace {

/// Which of its inputs say what files it reads or looks for.
vm::FilesRead files_read(const stdlib::Builtin& builtin) {
  if (builtin.effect == stdlib::BuiltinEffect::looks)
    return builtin.name == "glob"         ? vm::FilesRead::of_pattern
           : builtin.name == "file_mtime" ? vm::FilesRead::of_time
                                          : vm::FilesRead::of_path;
  if (builtin.name == "realpath" || builtin.name == "realpath_string") return vm::FilesRead::of_link;
  if (builtin.name == "system" || builtin.module == "launch") return vm::FilesRead::of_words;
  const stdlib::BuiltinSignature& signature = stdlib::signature_of(builtin);
  const bool reads = signature.takes(stdlib::BasicType::file) && !signature.uses_name_of(stdlib::BasicType::file);
  return reads ? vm::FilesRead::of_inputs : vm::FilesRead::none;
}

}  // namespace

vm::BuiltinSite library_site(const ir::Op& op, const OperandMap& operands, std::uint32_t body) {
  const stdlib::Builtin& builtin = stdlib::builtins()[op.callee];
  const stdlib::BuiltinSignature& signature = stdlib::signature_of(builtin);
  vm::BuiltinSite site;
  site.name = builtin.name;
  site.function = builtin.function;
  site.file_output_count = static_cast<std::uint32_t>(signature.file_output_count());
  site.arguments = operands.all(op.operands, body);
  site.results = operands.all(op.results, body);
  for (const stdlib::SignatureType& output : signature.outputs)
    if (!signature.is_written(output)) site.returns_void.push_back(output.is(stdlib::BasicType::void_));
  site.results.resize(site.returns_void.size());
  site.priority = operands.of(op.priority, body);
  site.rank = operands.of(op.rank, body);
  site.files_read = files_read(builtin);
  site.tells_incomplete = builtin.name == "@complete";
  site.runs_code = stdlib::may_end_later(builtin.effect) && !builtin.name.starts_with("sleep");
  return site;
}

}  // namespace raddle::emit
