#pragma once
#include "compiler/emit/kernel_builder.hpp"
#include "compiler/ir/module.hpp"

namespace raddle::emit {

/// What a kernel has beside a tracked array (Note [tracked arrays] in ir/module.hpp): for each element whether it is
/// there; or, of one that is filled in an order, the number of the next element, which is one more if the order is
/// down.
class Tracker {
 public:
  Tracker(KernelBuilder& builder, ir::FillOrder order) : builder_(builder), order_(order) {}

  /// Memory for an array of `count` elements.
  void make(vm::KernelRegister count, Span span);
  /// No element is there.
  void begin(vm::KernelRegister count, Span span);
  /// Before the element is put.
  void insert(vm::KernelRegister key, Span span);
  void read(vm::KernelRegister key, Span span);
  /// Of an array that is filled in an order. @return a register
  vm::KernelRegister next(Span span);

 private:
  vm::KernelRegister number(std::int64_t value);
  void set_next(vm::KernelRegister value, Span span);
  void expect(vm::KernelRegister key, bool is_there, Span span);

  KernelBuilder& builder_;
  ir::FillOrder order_;
  vm::KernelRegister there_ = vm::no_kernel_part;  // an array: of booleans, or of one int
};

}  // namespace raddle::emit
