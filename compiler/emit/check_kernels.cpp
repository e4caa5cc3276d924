#include "compiler/emit/check_kernels.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/emit/emit_kernel.hpp"
#include "vm/kernel/kernel_bytes.hpp"
#include "vm/kernel/kernel_text.hpp"
#include "vm/kernel/verify_kernel.hpp"

namespace raddle::emit {

void check_kernels(const ir::Module& module) {
  const std::vector<vm::Kernel> kernels = emit_kernels(module);
  if (const std::string fault = vm::verify_kernels(kernels); !fault.empty()) throw std::logic_error(fault);
  std::vector<const vm::Kernel*> places;
  for (const vm::Kernel& kernel : kernels) places.push_back(&kernel);
  for (vm::KernelId id = 0; id < kernels.size(); ++id) {
    if (!kernels[id].exists()) {
      if (module.functions[id].is_leaf())
        throw std::logic_error("the leaf `" + module.functions[id].name + "` has no kernel");
      continue;
    }
    const std::string text = vm::print_kernel(kernels[id], id);
    const auto read = vm::read_kernels(text);
    if (!read) throw std::logic_error("a kernel does not read back: " + read.error() + "\n" + text);
    if (read->size() != 1 || read->front().id != id || read->front().kernel != kernels[id])
      throw std::logic_error("a kernel reads back as another one:\n" + text);
    const vm::KernelGroup group = vm::group_of(places, id);
    const auto from_bytes = vm::read_kernel_bytes(vm::write_kernels(group));
    if (!from_bytes) throw std::logic_error("the bytes of a kernel do not read back: " + from_bytes.error());
    if (*from_bytes != group) throw std::logic_error("the bytes of a kernel read back as another one:\n" + text);
  }
}

}  // namespace raddle::emit
