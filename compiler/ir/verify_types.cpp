#include "compiler/ir/verify_types.hpp"

#include <algorithm>

namespace raddle::ir {
namespace {

class TypeChecker {
 public:
  TypeChecker(const Module& module, const Function& function, const Op& op)
      : module_(module), function_(function), op_(op), types_(*module.types) {}

  std::string run() {
    switch (op_.kind) {
      case OpKind::copy: copies(); break;
      case OpKind::int_to_float: computes(1, TypeStore::int_, TypeStore::float_); break;
      case OpKind::add:
      case OpKind::sub:
      case OpKind::mul: numbers_of_one_type(2); break;
      case OpKind::neg: numbers_of_one_type(1); break;
      case OpKind::div:
      case OpKind::pow: computes(2, TypeStore::float_, TypeStore::float_); break;
      case OpKind::mul_add:
      case OpKind::mul_sub:
      case OpKind::sub_mul: computes(3, TypeStore::float_, TypeStore::float_); break;
      case OpKind::index_add:
      case OpKind::index_mul:
      case OpKind::idiv:
      case OpKind::mod: computes(2, TypeStore::int_, TypeStore::int_); break;
      case OpKind::not_: computes(1, TypeStore::boolean, TypeStore::boolean); break;
      case OpKind::and_:
      case OpKind::or_: computes(2, TypeStore::boolean, TypeStore::boolean); break;
      case OpKind::eq:
      case OpKind::ne:
      case OpKind::lt:
      case OpKind::le:
      case OpKind::gt:
      case OpKind::ge: comparison(); break;
      case OpKind::concat:
      case OpKind::path_join: strings(); break;
      case OpKind::array_new:
      case OpKind::array_list:
      case OpKind::array_map:
      case OpKind::array_range: makes_array(); break;
      case OpKind::array_get:
      case OpKind::array_row:
      case OpKind::bag_row: row(); break;
      case OpKind::array_insert:
        shape(3, 0);
        key(operand(0), operand(1));
        same(element(operand(0)), operand(2));
        break;
      case OpKind::array_hold:
        shape(2, 0);
        require(types_.is_array(operand(0)) || types_.kind(operand(0)) == TypeKind::bag, "an array or bag");
        is(operand(1), TypeStore::void_);
        break;
      case OpKind::bag_new:
        shape(0, 1);
        bag(result());
        break;
      case OpKind::bag_append:
        shape(2, 0);
        bag(operand(0));
        same(element(operand(0)), operand(1));
        break;
      case OpKind::struct_new:
        shape(0, 1);
        structure(result());
        break;
      case OpKind::struct_make: fields(); break;
      case OpKind::struct_get:
        shape(1, 1);
        same(field(operand(0)), result());
        break;
      case OpKind::struct_set:
        shape(2, 0);
        same(field(operand(0)), operand(1));
        break;
      case OpKind::file_new: file_new(); break;
      case OpKind::file_assign:
        shape(2, 0);
        file(operand(0));
        file(operand(1));
        break;
      case OpKind::update_new: computes(1, TypeStore::float_, TypeStore::updateable); break;
      case OpKind::update_get: computes(1, TypeStore::updateable, TypeStore::float_); break;
      case OpKind::update:
        shape(2, any);
        is(operand(0), TypeStore::updateable);
        is(operand(1), TypeStore::float_);
        break;
      case OpKind::call:
      case OpKind::call_app: call(); break;
      case OpKind::call_builtin:
        require(op_.operand_types.empty() || op_.operand_types.size() == op_.operands.size(),
                "one type for each operand");
        break;
      case OpKind::memo: memo(2); break;
      case OpKind::memo_keep: memo(1); break;
      case OpKind::if_:
        shape(1, 0);
        is(operand(0), TypeStore::boolean);
        break;
      case OpKind::switch_:
        shape(1, 0);
        is(operand(0), TypeStore::int_);
        break;
      case OpKind::foreach_range: range_parameters(); break;
      case OpKind::foreach_array: array_parameters(); break;
      case OpKind::loop: loop(); break;
      case OpKind::attempt:
        shape(0, 1);
        is(result(), TypeStore::boolean);
        break;
      case OpKind::wait:
      case OpKind::wait_deep: shape(any, 0); break;
    }
    return problem_;
  }

 private:
  static constexpr std::size_t any = ~std::size_t{0};

  bool require(bool condition, const char* text) {
    if (!condition && problem_.empty()) problem_ = text;
    return condition;
  }
  void shape(std::size_t operands, std::size_t results) {
    if (operands != any) require(op_.operands.size() == operands, "wrong number of operands");
    if (results != any) require(op_.results.size() == results, "wrong number of results");
  }

  // Types with named ones resolved; `error` for an operand that is not there, which shape() has reported.
  TypeId operand(std::size_t index) const {
    return index < op_.operands.size() ? type(op_.operands[index]) : TypeStore::error;
  }
  TypeId result(std::size_t index = 0) const {
    return index < op_.results.size() ? variable(op_.results[index]) : TypeStore::error;
  }
  TypeId type(Operand operand) const { return types_.base(type_of(module_, function_, operand)); }
  TypeId variable(VarId id) const { return types_.base(function_.variables[id].type); }
  TypeId element(TypeId of) const { return types_.base(types_.at(of).element); }

  void is(TypeId found, TypeId expected) {
    if (problem_.empty() && found != expected)
      problem_ = "expected " + types_.name(expected) + ", found " + types_.name(found);
  }
  void same(TypeId a, TypeId b) { is(b, a); }
  void all(TypeId expected) {
    for (std::size_t i = 0; i < op_.operands.size(); ++i) is(operand(i), expected);
  }
  void number(TypeId type) { require(type == TypeStore::int_ || type == TypeStore::float_, "expected a number"); }
  void numbers() {
    number(operand(0));
    all(operand(0));
  }
  void array(TypeId type) { require(types_.is_array(type), "expected an array"); }
  void bag(TypeId type) { require(types_.kind(type) == TypeKind::bag, "expected a bag"); }
  void structure(TypeId type) { require(types_.kind(type) == TypeKind::structure, "expected a structure"); }
  void file(TypeId type) { require(type == TypeStore::file || type == TypeStore::url, "expected a file"); }

  void copies() {
    shape(1, 1);
    same(result(), operand(0));
  }
  void computes(std::size_t count, TypeId of, TypeId result_type) {
    shape(count, 1);
    all(of);
    is(result(), result_type);
  }
  void numbers_of_one_type(std::size_t count) {
    shape(count, 1);
    numbers();
    same(operand(0), result());
  }
  void comparison() {
    shape(2, 1);
    require(types_.is_scalar(operand(0)), "expected scalars");
    same(operand(0), operand(1));
    is(result(), TypeStore::boolean);
  }
  void strings() {
    shape(2, 1);
    is(result(), TypeStore::string);
    if (op_.kind == OpKind::path_join) return all(TypeStore::string);
    require(types_.is_scalar(operand(0)) && types_.is_scalar(operand(1)), "expected scalars");
    require(operand(0) == TypeStore::string || operand(1) == TypeStore::string, "expected a string");
  }
  void key(TypeId of, TypeId key) {
    if (require(types_.is_array(of), "expected an array")) same(types_.base(types_.at(of).key), key);
  }
  void row() {
    shape(2, 1);
    key(operand(0), operand(1));
    same(element(operand(0)), result());
    if (op_.kind == OpKind::array_row) array(result());
    if (op_.kind == OpKind::bag_row) bag(result());
  }
  void makes_array() {
    shape(op_.kind == OpKind::array_range ? 3 : any, 1);
    array(result());
    if (op_.kind == OpKind::array_new) return all(TypeStore::int_);
    if (op_.kind == OpKind::array_map) return map();
    if (op_.kind == OpKind::array_range) numbers();
    elements(0, 1);
  }
  void elements(std::size_t first, std::size_t step) {
    if (!types_.is_array(result())) return;
    for (std::size_t i = first; i < op_.operands.size(); i += step) same(element(result()), operand(i));
  }
  void map() {
    if (!types_.is_array(result())) return;
    require(op_.operands.size() % 2 == 0, "a key without value");
    for (std::size_t i = 0; i < op_.operands.size(); i += 2) key(result(), operand(i));
    elements(1, 2);
  }
  TypeId field(TypeId of) {
    structure(of);
    if (!problem_.empty()) return TypeStore::error;
    const auto& all = types_.structure(of).fields;
    if (!require(op_.number >= 0 && op_.number < std::ssize(all), "no such field")) return TypeStore::error;
    return types_.base(all[static_cast<std::size_t>(op_.number)].type);
  }
  void fields() {
    shape(any, 1);
    structure(result());
    if (!problem_.empty()) return;
    const auto& all = types_.structure(result()).fields;
    if (!require(all.size() == op_.operands.size(), "one value for each field")) return;
    for (std::size_t i = 0; i < all.size(); ++i) same(types_.base(all[i].type), operand(i));
  }
  void file_new() {
    require(op_.operands.size() <= 1, "wrong number of operands");
    shape(any, 1);
    all(TypeStore::string);
    file(result());
  }

  void call() {
    if (!require(op_.callee < module_.functions.size(), "no callee")) return;
    const Function& callee = module_.functions[op_.callee];
    require((callee.kind == FunctionKind::app) == (op_.kind == OpKind::call_app), "an app is called by call_app");
    require(callee.kind != FunctionKind::launched, "a launched leaf is not called");
    shape(callee.parameters.size(), callee.outputs.size());
    if (!problem_.empty()) return;
    for (std::size_t i = 0; i < callee.parameters.size(); ++i) same(type_in(callee, callee.parameters[i]), operand(i));
    for (std::size_t i = 0; i < callee.outputs.size(); ++i) same(type_in(callee, callee.outputs[i]), result(i));
  }
  /// @param first_file  operands before it are strings
  void memo(std::size_t first_file) {
    for (std::size_t i = 0; i < first_file; ++i) is(operand(i), TypeStore::string);
    if (op_.kind == OpKind::memo) is(result(), TypeStore::string);
    const auto files = static_cast<std::size_t>(op_.number);
    if (!require(op_.number >= 0 && first_file + files <= op_.operands.size(), "wrong number of files")) return;
    for (std::size_t i = first_file; i < first_file + files; ++i) file(operand(i));
  }
  TypeId type_in(const Function& callee, VarId id) const { return types_.base(callee.variables[id].type); }

  const std::vector<VarId>& parameters(std::size_t region) const {
    return function_.regions[op_.regions[region]].parameters;
  }
  void range_parameters() {
    shape(3, 0);
    numbers();
    const std::vector<VarId>& own = parameters(0);
    if (!require(own.size() == 1 || own.size() == 2, "expected one or two parameters")) return;
    same(operand(0), variable(own[0]));
    if (own.size() == 2) is(variable(own[1]), TypeStore::int_);
  }
  void array_parameters() {
    shape(op_.operands.size() == 2 ? 2 : 1, 0);
    if (op_.operands.size() == 2) is(operand(1), TypeStore::int_);
    const std::vector<VarId>& own = parameters(0);
    const TypeId of = operand(0);
    if (!require(types_.is_array(of) || types_.kind(of) == TypeKind::bag, "expected an array or a bag")) return;
    if (!require(own.size() == 1 || own.size() == 2, "expected one or two parameters")) return;
    same(element(of), variable(own[0]));
    if (own.size() == 2 && types_.is_array(of)) same(types_.base(types_.at(of).key), variable(own[1]));
  }
  void loop() {
    const std::vector<VarId>& own = parameters(0);
    require(own.size() == op_.operands.size() && own.size() == op_.nexts.size(),
            "one initial and one next value for each variable");
    require(op_.results.empty() || op_.results.size() == own.size(), "one final value for each variable, or none");
    if (!require(op_.condition.index != none, "no condition")) return;
    is(type(op_.condition), TypeStore::boolean);
    if (!problem_.empty()) return;
    for (std::size_t i = 0; i < own.size(); ++i) {
      same(variable(own[i]), operand(i));
      same(variable(own[i]), type(op_.nexts[i]));
      if (!op_.results.empty()) same(variable(own[i]), result(i));
    }
  }

  const Module& module_;
  const Function& function_;
  const Op& op_;
  const TypeStore& types_;
  std::string problem_;
};

}  // namespace

std::string check_types(const Module& module, const Function& function, const Op& op) {
  return TypeChecker(module, function, op).run();
}

}  // namespace raddle::ir
