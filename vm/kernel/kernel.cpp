#include "vm/kernel/kernel.hpp"

#include <algorithm>

namespace raddle::vm {

namespace {

/// `if_`, `and_` are so called for they are words of C++.
constexpr std::string_view without_underscore(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

constexpr KernelOpInfo infos[] = {
#define RADDLE_KERNEL_OP(name, inputs, result, failure) \
  {without_underscore(#name), inputs, result, KernelFailure::failure},
#define RADDLE_KERNEL_MEMORY RADDLE_KERNEL_OP
#define RADDLE_KERNEL_CONTROL(name) {without_underscore(#name), "", 'v', KernelFailure::nothing},
#include "vm/kernel/kernel_ops.def"
};

struct FunctionEntry {
  std::string_view library_function;
  KernelOp op;
};

constexpr FunctionEntry functions[] = {
#define RADDLE_KERNEL_FUNCTION(library_function, name) {library_function, KernelOp::name},
#include "vm/kernel/kernel_ops.def"
};

struct ReducerEntry {
  std::string_view library_function;
  KernelReducer reducer;
};

constexpr ReducerEntry reducers[] = {
#define RADDLE_KERNEL_REDUCTION(library_function, name) {library_function, KernelReducer::name},
#include "vm/kernel/kernel_ops.def"
};

}  // namespace

const char* text_of(KernelType type) {
  constexpr const char* texts[] = {"int",   "float",   "boolean",   "int32",   "float32",
                                   "int[]", "float[]", "boolean[]", "int32[]", "float32[]"};
  return texts[static_cast<std::size_t>(type)];
}

const char* text_of(KernelReducer reducer) {
  constexpr const char* texts[] = {
#define RADDLE_KERNEL_REDUCER(name) #name,
#include "vm/kernel/kernel_ops.def"
  };
  return texts[static_cast<std::size_t>(reducer)];
}

std::optional<KernelReducer> reducer_of_function(std::string_view library_function) {
  const auto* const found = std::ranges::find(reducers, library_function, &ReducerEntry::library_function);
  return found == std::end(reducers) ? std::nullopt : std::optional(found->reducer);
}

KernelType result_of(KernelReducer reducer, KernelType type) {
  const bool gives_float = reducer == KernelReducer::mean || needs_deviation(reducer);
  return gives_float ? KernelType::float_ : type;
}

const KernelOpInfo& info(KernelOp op) { return infos[static_cast<std::size_t>(op)]; }

namespace {

constexpr KernelOp gets[] = {KernelOp::get_int, KernelOp::get_float, KernelOp::get_boolean, KernelOp::get_int32,
                             KernelOp::get_float32};
constexpr KernelOp puts[] = {KernelOp::put_int, KernelOp::put_float, KernelOp::put_boolean, KernelOp::put_int32,
                             KernelOp::put_float32};
constexpr KernelOp news[] = {KernelOp::new_ints, KernelOp::new_floats, KernelOp::new_booleans, KernelOp::new_int32s,
                             KernelOp::new_float32s};

bool is_among(std::span<const KernelOp> ops, KernelOp op) { return std::ranges::find(ops, op) != ops.end(); }

}  // namespace

KernelOp get_of(KernelType element) { return gets[static_cast<std::size_t>(element)]; }
KernelOp put_of(KernelType element) { return puts[static_cast<std::size_t>(element)]; }
KernelOp new_of(KernelType element) { return news[static_cast<std::size_t>(element)]; }
bool is_get(KernelOp op) { return is_among(gets, op); }
bool is_put(KernelOp op) { return is_among(puts, op); }
bool is_new(KernelOp op) { return is_among(news, op); }

bool matches(char letter, KernelType type) {
  constexpr std::string_view letters = "ifbngIFBNG";
  if (letter == 'A') return is_array(type);
  if (letter == 'x') return !is_array(type);
  return letter == letters[static_cast<std::size_t>(type)];
}

KernelOp operation_of_function(std::string_view library_function, std::span<const KernelType> inputs) {
  const auto* const found = std::ranges::find_if(functions, [&](const FunctionEntry& entry) {
    return entry.library_function == library_function &&
           std::ranges::equal(info(entry.op).inputs, inputs,
                              [](char letter, KernelType type) { return matches(letter, type); });
  });
  return found == std::end(functions) ? KernelOp::if_ : found->op;
}

bool Kernel::has_own_arrays() const {
  const auto makes_one = [](const KernelInstruction& instruction) {
    return info(instruction.op).failure == KernelFailure::memory;
  };
  // an `each` may be left of an array that nobody reads
  return row_count != 0 || !eaches.empty() ||
         std::ranges::any_of(blocks, [&](const std::vector<KernelInstruction>& block) {
           return std::ranges::any_of(block, makes_one);
         });
}

bool Kernel::reads(KernelRegister id) const {
  const auto has = [id](const auto& registers) { return std::ranges::find(registers, id) != std::end(registers); };
  const auto is_read_by = [&](const KernelInstruction& instruction) { return has(instruction.inputs); };
  return has(outputs) ||
         std::ranges::any_of(blocks, [&](const auto& block) { return std::ranges::any_of(block, is_read_by); }) ||
         std::ranges::any_of(
             loops,
             [&](const KernelLoop& loop) { return loop.condition == id || has(loop.initial) || has(loop.next); }) ||
         std::ranges::any_of(calls, [&](const KernelCall& call) { return has(call.inputs); }) ||
         std::ranges::any_of(
             reductions,
             [&](const KernelReduction& reduction) { return reduction.count == id || has(reduction.inputs); }) ||
         std::ranges::any_of(foreign_calls, [&](const KernelForeignCall& call) { return has(call.inputs); }) ||
         std::ranges::any_of(eaches, [&](const KernelEach& each) { return each.count == id; });
}

KernelGroup group_of(std::span<const Kernel* const> kernels, KernelId first) {
  std::vector<KernelId> found = {first};
  KernelGroup group;
  for (std::size_t i = 0; i < found.size(); ++i) {
    Kernel kernel = *kernels[found[i]];
    visit_callees(kernel, [&found](KernelId& callee) {
      const auto place = std::ranges::find(found, callee);
      const auto index = static_cast<KernelId>(place - found.begin());
      if (place == found.end()) found.push_back(callee);
      callee = index;
    });
    for (KernelForeignCall& call : kernel.foreign_calls) call.function = no_kernel_part;
    group.push_back(std::move(kernel));
  }
  return group;
}

}  // namespace raddle::vm
