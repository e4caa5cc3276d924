#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "compiler/source/source_buffer.hpp"
#include "vm/kernel/kernel.hpp"

namespace raddle::emit {

/// A kernel that is made instruction by instruction. Parts but constants and eaches are added by who makes it.
class KernelBuilder {
 public:
  vm::Kernel take();

  vm::KernelRegister make_register(vm::KernelType type);
  vm::KernelRegister constant(vm::KernelType type, std::int64_t bits);
  vm::KernelInstruction& put(vm::KernelOp op, Span span);
  /// One with a result of this type. @return its register
  vm::KernelRegister put(vm::KernelOp op, vm::KernelType type, std::initializer_list<vm::KernelRegister> inputs,
                         Span span);
  /// One without a result.
  void put(vm::KernelOp op, std::initializer_list<vm::KernelRegister> inputs, Span span);
  /// Of the kernel's own.
  void put_array(vm::KernelOp made, vm::KernelRegister array, vm::KernelRegister count, Span span);
  vm::KernelBlockId begin_block();
  /// A block of what `fill` puts.
  template <typename Fill>
  vm::KernelBlockId block_of(const Fill& fill) {
    const vm::KernelBlockId around = block_, made = begin_block();
    block_ = made;
    fill();
    block_ = around;
    return made;
  }
  template <typename Fill>
  void put_each(vm::KernelRegister point, vm::KernelRegister count, Span span, const Fill& fill) {
    const auto index = static_cast<std::uint32_t>(kernel_.eaches.size());
    put(vm::KernelOp::each, span).index = index;
    kernel_.eaches.emplace_back();
    const vm::KernelBlockId made = block_of(fill);
    kernel_.eaches[index] = {.point = point, .count = count, .block = made};
  }

 protected:
  vm::Kernel kernel_;
  vm::KernelBlockId block_ = vm::no_kernel_part;  ///< that instructions are put into

 private:
  std::map<std::pair<vm::KernelType, std::int64_t>, vm::KernelRegister> constant_index_;
  std::vector<vm::KernelType> constant_types_;
};

}  // namespace raddle::emit
