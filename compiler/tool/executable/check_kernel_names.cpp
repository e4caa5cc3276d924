#include "compiler/tool/executable/check_kernel_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/appkernel/kernel_file.hpp"

namespace raddle::tool {

void check_kernel_names(const ir::Module& module, Diagnostics& diagnostics) {
  constexpr std::size_t most_names = 20;
  for (const ir::Function& function : module.functions) {
    const ir::Foreign& foreign = function.foreign;
    if (function.kind != ir::FunctionKind::foreign || foreign.kind != ir::ForeignKind::app_kernel) continue;
    const auto fault = appkernel::fault_of_kernel(foreign.library, foreign.code);
    if (!fault) continue;
    Diagnostic& diagnostic =
        diagnostics.report(DiagnosticKind::bad_kernel, foreign.place, "can not be called: " + fault->text);
    const std::string nearest = nearest_name(fault->wanted, fault->names);
    if (!nearest.empty())
      diagnostic.note(fmt::format("did you mean `{}`?", nearest));
    else if (!fault->names.empty() && fault->names.size() <= most_names)
      diagnostic.note(fmt::format("it has `{}`", fmt::join(fault->names, "`, `")));
  }
}

}  // namespace raddle::tool
