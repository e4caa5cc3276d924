#include "compiler/emit/select_opcode.hpp"

#include <utility>

namespace raddle::emit {

using ir::OpKind;
using vm::Opcode;

namespace {

Opcode by_type(TypeKind type, Opcode on_int, Opcode on_float, Opcode on_string) {
  if (type == TypeKind::float_) return on_float;
  return type == TypeKind::string ? on_string : on_int;
}

Opcode by_number(TypeKind type, Opcode on_int, Opcode on_float) { return type == TypeKind::float_ ? on_float : on_int; }

Opcode by_mode(std::int64_t mode) {
  if (mode == 0) return Opcode::update_incr;
  return mode == 1 ? Opcode::update_min : Opcode::update_scale;
}

}  // namespace

Opcode select_opcode(const ir::Op& op, TypeKind type) {
  switch (op.kind) {
    case OpKind::copy: return Opcode::copy;
    case OpKind::int_to_float: return Opcode::int_to_float;
    case OpKind::add: return by_number(type, Opcode::add_int, Opcode::add_float);
    case OpKind::sub: return by_number(type, Opcode::sub_int, Opcode::sub_float);
    case OpKind::mul: return by_number(type, Opcode::mul_int, Opcode::mul_float);
    case OpKind::index_add: return Opcode::add_int;
    case OpKind::index_mul: return Opcode::mul_int;
    case OpKind::div: return Opcode::div_float;
    case OpKind::idiv: return Opcode::idiv;
    case OpKind::mod: return Opcode::mod;
    case OpKind::pow: return Opcode::pow_float;
    case OpKind::mul_add: return Opcode::mul_add;
    case OpKind::mul_sub: return Opcode::mul_sub;
    case OpKind::sub_mul: return Opcode::sub_mul;
    case OpKind::neg: return by_number(type, Opcode::neg_int, Opcode::neg_float);
    case OpKind::not_: return Opcode::not_;
    case OpKind::and_: return Opcode::and_;
    case OpKind::or_: return Opcode::or_;
    case OpKind::eq: return by_type(type, Opcode::eq_int, Opcode::eq_float, Opcode::eq_string);
    case OpKind::ne: return by_type(type, Opcode::ne_int, Opcode::ne_float, Opcode::ne_string);
    case OpKind::lt: return by_type(type, Opcode::lt_int, Opcode::lt_float, Opcode::lt_string);
    case OpKind::le: return by_type(type, Opcode::le_int, Opcode::le_float, Opcode::le_string);
    case OpKind::gt: return by_type(type, Opcode::gt_int, Opcode::gt_float, Opcode::gt_string);
    case OpKind::ge: return by_type(type, Opcode::ge_int, Opcode::ge_float, Opcode::ge_string);
    case OpKind::concat: return Opcode::concat;
    case OpKind::path_join: return Opcode::path_join;
    case OpKind::array_new: return Opcode::array_new;
    case OpKind::array_get: return Opcode::array_get;
    case OpKind::array_insert: return Opcode::array_insert;
    case OpKind::array_hold: return Opcode::array_hold;
    case OpKind::array_row: return Opcode::array_row;
    case OpKind::array_list: return Opcode::array_list;
    case OpKind::array_map: return Opcode::array_map;
    case OpKind::array_range: return Opcode::array_range;
    case OpKind::bag_new: return Opcode::bag_new;
    case OpKind::bag_append: return Opcode::bag_append;
    case OpKind::bag_row: return Opcode::bag_row;
    case OpKind::struct_new: return Opcode::struct_new;
    case OpKind::struct_make: return Opcode::struct_make;
    case OpKind::struct_get: return Opcode::struct_get;
    case OpKind::struct_set: return Opcode::struct_set;
    case OpKind::file_new: return Opcode::file_new;
    case OpKind::file_assign: return Opcode::file_assign;
    case OpKind::update_new: return Opcode::update_new;
    case OpKind::update_get: return Opcode::update_get;
    case OpKind::update: return by_mode(op.number);
    case OpKind::call: return Opcode::call;
    case OpKind::call_app: return Opcode::call;
    case OpKind::call_builtin: return Opcode::call_builtin;
    case OpKind::memo: return Opcode::memo;
    case OpKind::memo_keep: return Opcode::memo_keep;
    case OpKind::if_: return Opcode::branch_if;
    case OpKind::switch_: return Opcode::branch_switch;
    case OpKind::foreach_range: return by_number(type, Opcode::foreach_range, Opcode::foreach_range_float);
    case OpKind::foreach_array: return Opcode::foreach_array;
    case OpKind::loop: return Opcode::loop;
    case OpKind::attempt: return Opcode::attempt;
    case OpKind::wait: return Opcode::enter;
    case OpKind::wait_deep: return Opcode::enter;
  }
  std::unreachable();
}

}  // namespace raddle::emit
