#include "vm/kernel/evaluate.hpp"

#include "vm/kernel/scalar_operations.hpp"

namespace raddle::vm {

std::optional<std::int64_t> evaluate(KernelOp op, std::span<const std::int64_t> inputs) {
  const std::string_view letters = info(op).inputs;
  const std::int64_t* places[3] = {};
  std::size_t word = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    places[i] = &inputs[word];
    word += letters[i] >= 'A' && letters[i] <= 'Z' ? 2 : 1;
  }
  std::int64_t result = 0;
  switch (op) {
#define RADDLE_KERNEL_OP(name, inputs, result_letter, failure)                                                  \
  case KernelOp::name:                                                                                          \
    if (!scalar::compute<scalar::letter(inputs, 0), scalar::letter(inputs, 1), scalar::letter(inputs, 2),       \
                         result_letter>(places[0], places[1], places[2], &result, [](const auto&... operands) { \
          return scalar::Operations::name(operands...);                                                         \
        }))                                                                                                     \
      return std::nullopt;                                                                                      \
    return result;
#include "vm/kernel/kernel_ops.def"
    default: return std::nullopt;
  }
}

}  // namespace raddle::vm
