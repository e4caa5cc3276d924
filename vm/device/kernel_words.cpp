#include "vm/device/kernel_words.hpp"

#include <fmt/format.h>

namespace raddle::vm {

std::string words_of(const KernelGroup& kernels) {
  const std::string name = kernels.empty() ? "" : kernels.front().name;
  const std::string function = name.substr(0, name.find('.'));
  if (name.ends_with(single_calls_suffix)) return fmt::format("a single call of `{}`", function);
  return function.empty() || function == "main" ? "a loop" : fmt::format("a loop of `{}`", function);
}

}  // namespace raddle::vm
