#include "compiler/codegen/kernel_key.hpp"

namespace raddle::codegen {

std::string kernel_key(const CodeRequest& request, std::string_view compiler, std::string_view cpu) {
  std::string key = request.unrolls_recursion ? "unrolls recursion\n" : "\n";
  key.append(compiler).append("\n").append(cpu).append("\n");
  key += std::to_string(static_cast<unsigned>(request.target)) + " " +
         std::to_string(static_cast<unsigned>(request.entry.kind)) + " " +
         std::to_string(static_cast<unsigned>(request.entry.reads)) + " " + std::to_string(request.entry.follows) +
         " " + std::to_string(request.entry.row_follows) + "\n";
  return key + request.kernels;
}

}  // namespace raddle::codegen
