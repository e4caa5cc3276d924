#include "compiler/emit/tracker.hpp"

namespace raddle::emit {

using ir::FillOrder;
using vm::KernelOp;
using vm::KernelRegister;
using vm::KernelType;

KernelRegister Tracker::number(std::int64_t value) { return builder_.constant(KernelType::int_, value); }

KernelRegister Tracker::next(Span span) {
  return builder_.put(KernelOp::get_int, KernelType::int_, {there_, number(0)}, span);
}

void Tracker::set_next(KernelRegister value, Span span) {
  builder_.put(KernelOp::put_int, {there_, number(0), value}, span);
}

void Tracker::make(KernelRegister count, Span span) {
  const bool is_any = order_ == FillOrder::any;
  there_ = builder_.make_register(is_any ? KernelType::booleans : KernelType::ints);
  builder_.put_array(is_any ? KernelOp::new_booleans : KernelOp::new_ints, there_, is_any ? count : number(1), span);
}

void Tracker::begin(KernelRegister count, Span span) {
  if (order_ != FillOrder::any) return set_next(order_ == FillOrder::up ? number(0) : count, span);
  const KernelRegister point = builder_.make_register(KernelType::int_),
                       is_there = builder_.constant(KernelType::boolean, 0);
  builder_.put_each(point, count, span, [&] { builder_.put(KernelOp::put_boolean, {there_, point, is_there}, span); });
}

void Tracker::insert(KernelRegister key, Span span) {
  if (order_ == FillOrder::any) {
    expect(key, false, span);
    builder_.put(KernelOp::put_boolean, {there_, key, builder_.constant(KernelType::boolean, 1)}, span);
    return;
  }
  const KernelRegister now = next(span), one = number(1);
  const bool is_up = order_ == FillOrder::up;
  const KernelRegister then =
      builder_.put(is_up ? KernelOp::add_int : KernelOp::sub_int, KernelType::int_, {now, one}, span);
  builder_.put(KernelOp::assert_equal_int, {key, is_up ? now : then}, span);
  set_next(then, span);
}

/// That the key is one of the array is looked at where its element is read.
void Tracker::read(KernelRegister key, Span span) {
  switch (order_) {
    case FillOrder::any: return expect(key, true, span);
    case FillOrder::up: return builder_.put(KernelOp::assert_less_int, {key, next(span)}, span);
    case FillOrder::down: return builder_.put(KernelOp::assert_not_greater_int, {next(span), key}, span);
  }
}

void Tracker::expect(KernelRegister key, bool is_there, Span span) {
  const KernelRegister found = builder_.put(KernelOp::get_boolean, KernelType::boolean, {there_, key}, span);
  builder_.put(KernelOp::assert_equal_boolean, {found, builder_.constant(KernelType::boolean, is_there ? 1 : 0)}, span);
}

}  // namespace raddle::emit
