#include "compiler/emit/emit_leaf_code.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "stdlib/builtins.hpp"
#include "vm/math/lane_functions.hpp"

namespace raddle::emit {

namespace {

using ir::OpKind;
using vm::LeafOpcode;
using Word = std::uint16_t;

constexpr std::size_t most_words = 4096;
constexpr std::size_t most_batch_words = 128;  ///< of 256 points: what a second-level cache holds
constexpr std::size_t most_instructions = std::numeric_limits<Word>::max();

/// One instruction, whatever its operands; `end`: there is none for this type.
struct Operator {
  OpKind kind;
  LeafOpcode of_ints, of_floats;
  bool swaps = false;  ///< the operands: `gt` and `ge` are `lt` and `le` the other way round
};

constexpr Operator operators[] = {
    {OpKind::not_, LeafOpcode::not_, LeafOpcode::end},
    {OpKind::neg, LeafOpcode::neg_int, LeafOpcode::neg_float},
    {OpKind::int_to_float, LeafOpcode::int_to_float, LeafOpcode::end},
    {OpKind::add, LeafOpcode::add_int, LeafOpcode::add_float},
    {OpKind::sub, LeafOpcode::sub_int, LeafOpcode::sub_float},
    {OpKind::mul, LeafOpcode::mul_int, LeafOpcode::mul_float},
    {OpKind::div, LeafOpcode::end, LeafOpcode::div_float},
    {OpKind::pow, LeafOpcode::end, LeafOpcode::pow_float},
    {OpKind::idiv, LeafOpcode::idiv, LeafOpcode::end},
    {OpKind::mod, LeafOpcode::mod, LeafOpcode::end},
    {OpKind::and_, LeafOpcode::and_, LeafOpcode::end},
    {OpKind::or_, LeafOpcode::or_, LeafOpcode::end},
    {OpKind::eq, LeafOpcode::eq_int, LeafOpcode::eq_float},
    {OpKind::ne, LeafOpcode::ne_int, LeafOpcode::ne_float},
    {OpKind::lt, LeafOpcode::lt_int, LeafOpcode::lt_float},
    {OpKind::le, LeafOpcode::le_int, LeafOpcode::le_float},
    {OpKind::gt, LeafOpcode::lt_int, LeafOpcode::lt_float, true},
    {OpKind::ge, LeafOpcode::le_int, LeafOpcode::le_float, true},
    {OpKind::mul_add, LeafOpcode::end, LeafOpcode::mul_add},
    {OpKind::mul_sub, LeafOpcode::end, LeafOpcode::mul_sub},
    {OpKind::sub_mul, LeafOpcode::end, LeafOpcode::sub_mul},
};

const Operator* operator_of(OpKind kind) {
  const auto* const found = std::ranges::find(operators, kind, &Operator::kind);
  return found == std::end(operators) ? nullptr : found;
}

bool is_number(TypeKind type) {
  return type == TypeKind::int_ || type == TypeKind::float_ || type == TypeKind::boolean;
}

/// @pre is_number()
vm::ValueKind value_kind(TypeKind type) {
  if (type == TypeKind::int_) return vm::ValueKind::int_;
  return type == TypeKind::float_ ? vm::ValueKind::float_ : vm::ValueKind::boolean;
}

class LeafEmitter {
 public:
  LeafEmitter(const ir::Module& module, const ir::Function& leaf)
      : module_(module), leaf_(leaf), words_(leaf.variables.size()), uses_(leaf.variables.size()) {}

  vm::LeafCode run() {
    for (const ir::VarId parameter : leaf_.parameters) words_[parameter] = make_words(is_array(parameter) ? 2 : 1);
    code_.parameter_words = static_cast<Word>(frame_words_);
    count_uses();
    collect_constants();
    for (ir::VarId id = 0; id < leaf_.variables.size(); ++id)
      if (std::ranges::find(leaf_.parameters, id) == leaf_.parameters.end())
        words_[id] = make_words(is_array(id) ? 2 : 1);
    region(0);
    put(LeafOpcode::end);
    if (is_refused_ || frame_words_ > most_words || code_.instructions.size() > most_instructions) return {};
    for (const ir::VarId output : leaf_.outputs) code_.outputs.push_back(words_[output]);
    code_.frame_words = static_cast<Word>(frame_words_);
    for (const std::size_t moves : passed_) code_.instructions[moves].a += code_.frame_words;
    for (vm::LeafInstruction& instruction : code_.instructions)
      if (instruction.opcode == LeafOpcode::jump && code_.instructions[instruction.a].opcode == LeafOpcode::end)
        instruction.opcode = LeafOpcode::end;
    code_.batch_cost = batch_cost();
    return std::move(code_);
  }

 private:
  // ---------------------------------------------------------------- registers

  Word make_words(std::size_t count) {
    frame_words_ += count;
    return static_cast<Word>(frame_words_ - count);
  }
  TypeKind kind(TypeId type) const { return module_.types->kind(module_.types->base(type)); }
  TypeKind kind(ir::Operand operand) const { return kind(ir::type_of(module_, leaf_, operand)); }
  bool is_array(ir::VarId id) const { return kind(leaf_.variables[id].type) == TypeKind::array; }

  template <typename Visit>
  void for_each_operand(const Visit& visit) const {
    for (const ir::Region& region : leaf_.regions) {
      for (const ir::Op& op : region.ops) {
        for (const ir::Operand operand : op.operands) visit(operand);
        for (const ir::Operand next : op.nexts) visit(next);
        if (op.kind == OpKind::loop) visit(op.condition);
      }
    }
  }
  void count_uses() {
    for_each_operand([this](ir::Operand operand) {
      if (!operand.is_constant) ++uses_[operand.index];
    });
    for (const ir::VarId output : leaf_.outputs) uses_[output] += 2;
  }
  void collect_constants() {
    for_each_operand([this](ir::Operand operand) {
      if (operand.is_constant && kind(operand) != TypeKind::string) static_cast<void>(constant(bits_of(operand)));
    });
    for (const ir::Region& region : leaf_.regions)
      for (const ir::Op& op : region.ops)
        for (const std::int64_t label : op.labels) static_cast<void>(constant(label));
  }
  /// @pre all constants are asked for before the first variable that is no parameter gets its register
  Word constant(std::int64_t bits) {
    const auto [found, is_new] = constants_.try_emplace(bits, 0);
    if (is_new) {
      found->second = make_words(1);
      code_.constants.push_back(bits);
    }
    return found->second;
  }
  std::int64_t bits_of(ir::Operand operand) const {
    const ir::Constant& constant = module_.constants[operand.index];
    if (const auto* number = std::get_if<double>(&constant)) return std::bit_cast<std::int64_t>(*number);
    if (const auto* truth = std::get_if<bool>(&constant)) return *truth ? 1 : 0;
    return std::get<std::int64_t>(constant);
  }
  Word word(ir::Operand operand) { return operand.is_constant ? constant(bits_of(operand)) : words_[operand.index]; }

  /// Functions of the library are called point by point, and their arguments made values; but for mathematics.
  std::uint32_t batch_cost() const {
    constexpr std::uint32_t library_cost = 64, mathematics_cost = 4;
    if (frame_words_ > most_batch_words) return 0;
    std::uint32_t cost = 0;
    for (const vm::LeafInstruction& instruction : code_.instructions) {
      if (instruction.opcode > LeafOpcode::sub_mul && instruction.opcode != LeafOpcode::library &&
          instruction.opcode != LeafOpcode::end)
        return 0;
      if (instruction.opcode != LeafOpcode::library) {
        cost += 1;
      } else {
        cost += code_.library[instruction.a].lanes ? mathematics_cost : library_cost;
      }
    }
    return cost;
  }

  // ---------------------------------------------------------------- instructions

  std::size_t put(LeafOpcode opcode, Word a = 0, Word b = 0, Word c = 0) {
    code_.instructions.push_back({opcode, a, b, c});
    return code_.instructions.size() - 1;
  }
  void land(std::size_t jump) { code_.instructions[jump].a = static_cast<Word>(code_.instructions.size()); }

  void region(ir::RegionId id) {
    const std::vector<ir::Op>& ops = leaf_.regions[id].ops;
    find_arguments(ops);
    for (std::size_t i = 0; i < ops.size() && !is_refused_; ++i) {
      if (ops[i].results.size() == 1 && arguments_.contains(ops[i].results[0])) continue;
      const bool decides_next =
          i + 1 < ops.size() && ops[i + 1].kind == OpKind::if_ && is_fused(ops[i], ops[i + 1].operands.at(0));
      if (!decides_next) {
        operation(ops[i]);
      } else {
        branches(ops[i + 1], unless(ops[i]));
        ++i;
      }
    }
  }

  /// What is computed for one call only is computed where the call takes it.
  void find_arguments(const std::vector<ir::Op>& ops) {
    std::map<ir::VarId, const ir::Op*> candidates;
    for (const ir::Op& op : ops) {
      const bool is_one_instruction = operator_of(op.kind) && op.operands.size() <= 2;
      if (is_one_instruction && op.results.size() == 1 && uses_[op.results[0]] == 1) candidates[op.results[0]] = &op;
      if (op.kind != OpKind::call || is_foreign(op)) continue;
      for (const ir::Operand operand : op.operands)
        if (!operand.is_constant && candidates.contains(operand.index))
          arguments_[operand.index] = candidates[operand.index];
    }
  }

  void operation(const ir::Op& op) {
    switch (op.kind) {
      case OpKind::int_to_float:
      case OpKind::add:
      case OpKind::sub:
      case OpKind::mul:
      case OpKind::div:
      case OpKind::idiv:
      case OpKind::mod:
      case OpKind::pow:
      case OpKind::mul_add:
      case OpKind::mul_sub:
      case OpKind::sub_mul:
      case OpKind::neg:
      case OpKind::not_:
      case OpKind::and_:
      case OpKind::or_:
      case OpKind::eq:
      case OpKind::ne:
      case OpKind::lt:
      case OpKind::le:
      case OpKind::gt:
      case OpKind::ge: return compute(op);
      case OpKind::copy: return copy(op.operands[0], op.results[0]);
      case OpKind::array_get: return element(op);
      case OpKind::call: return call(op);
      case OpKind::call_builtin: return library(op);
      case OpKind::if_: return branches(op, put(LeafOpcode::unless, 0, word(op.operands[0])));
      case OpKind::switch_: return choose(op);
      case OpKind::loop: return loop(op);
      case OpKind::concat:
      case OpKind::path_join:
      case OpKind::array_new:
      case OpKind::array_insert:
      case OpKind::array_row:
      case OpKind::array_list:
      case OpKind::array_map:
      case OpKind::array_range:
      case OpKind::bag_new:
      case OpKind::bag_append:
      case OpKind::bag_row:
      case OpKind::struct_new:
      case OpKind::struct_make:
      case OpKind::struct_get:
      case OpKind::struct_set:
      case OpKind::file_new:
      case OpKind::file_assign:
      case OpKind::update_new:
      case OpKind::update_get:
      case OpKind::update:
      case OpKind::call_app:
      case OpKind::memo:
      case OpKind::memo_keep:
      case OpKind::foreach_range:
      case OpKind::foreach_array:
      case OpKind::wait:
      case OpKind::wait_deep: return refuse();  // infer-leaves lets none of them into a leaf
    }
  }

  void compute(const ir::Op& op) {
    const Operator* const found = operator_of(op.kind);
    if (found == nullptr) return refuse();
    const Operator& form = *found;
    const TypeKind type = kind(op.operands[0]);
    const bool is_integral = type == TypeKind::int_ || type == TypeKind::boolean;
    const LeafOpcode opcode = type == TypeKind::float_ ? form.of_floats : is_integral ? form.of_ints : LeafOpcode::end;
    if (opcode == LeafOpcode::end) return refuse();
    Word first = word(op.operands[0]);
    Word second = op.operands.size() > 1 ? word(op.operands[1]) : Word{0};
    if (form.swaps) std::swap(first, second);
    put(opcode, words_[op.results[0]], first, second);
    if (op.operands.size() > 2) put(LeafOpcode::move, word(op.operands[2]));
  }
  void copy(ir::Operand from, ir::VarId to) {
    move(word(from), words_[to]);
    if (is_array(to)) move(static_cast<Word>(word(from) + 1), static_cast<Word>(words_[to] + 1));
  }
  void move(Word from, Word to) {
    if (from != to) put(LeafOpcode::move, to, from);
  }
  void element(const ir::Op& op) {
    const TypeKind element =
        kind(module_.types->at(module_.types->base(type_of(module_, leaf_, op.operands[0]))).element);
    const LeafOpcode opcode = element == TypeKind::float_ ? LeafOpcode::get_float
                              : element == TypeKind::int_ ? LeafOpcode::get_int
                                                          : LeafOpcode::get_boolean;
    put(opcode, words_[op.results[0]], word(op.operands[0]), word(op.operands[1]));
  }

  // ---------------------------------------------------------------- branches

  /// `test` compares ints for this condition only: both become one instruction.
  bool is_fused(const ir::Op& test, ir::Operand condition) const {
    const bool compares = test.kind == OpKind::eq || test.kind == OpKind::lt || test.kind == OpKind::le ||
                          test.kind == OpKind::gt || test.kind == OpKind::ge;
    return compares && !condition.is_constant && test.results.size() == 1 && test.results[0] == condition.index &&
           uses_[condition.index] == 1 && kind(test.operands[0]) == TypeKind::int_;
  }
  /// @return the jump that is taken if it is not so
  std::size_t unless(const ir::Op& test) {
    const bool swaps = test.kind == OpKind::gt || test.kind == OpKind::ge;
    const LeafOpcode opcode = test.kind == OpKind::eq                              ? LeafOpcode::unless_eq_int
                              : test.kind == OpKind::lt || test.kind == OpKind::gt ? LeafOpcode::unless_lt_int
                                                                                   : LeafOpcode::unless_le_int;
    return put(opcode, 0, word(test.operands[swaps ? 1 : 0]), word(test.operands[swaps ? 0 : 1]));
  }
  void branches(const ir::Op& op, std::size_t otherwise) {
    region(op.regions[0]);
    if (op.regions.size() < 2) return land(otherwise);
    const std::size_t end = put(LeafOpcode::jump);
    land(otherwise);
    region(op.regions[1]);
    land(end);
  }
  void choose(const ir::Op& op) {
    const Word value = word(op.operands[0]);
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < op.labels.size(); ++i) {
      const std::size_t next = put(LeafOpcode::unless_eq_int, 0, value, constant(op.labels[i]));
      region(op.regions[i]);
      ends.push_back(put(LeafOpcode::jump));
      land(next);
    }
    if (op.regions.size() > op.labels.size()) region(op.regions.back());
    for (const std::size_t end : ends) land(end);
  }

  /// All are read before the first is assigned.
  void assign_at_once(const std::vector<ir::Operand>& from, const std::vector<ir::VarId>& to) {
    std::vector<ir::Operand> sources = from;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto reads = [&](ir::Operand later) { return !later.is_constant && later.index == to[i]; };
      if (std::none_of(sources.begin() + static_cast<std::ptrdiff_t>(i) + 1, sources.end(), reads)) continue;
      if (is_array(to[i])) return refuse();
      const Word saved = make_words(1);
      saved_.push_back({to[i], saved});
      put(LeafOpcode::move, saved, words_[to[i]]);
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto saved = std::ranges::find(saved_, sources[i].index, &std::pair<ir::VarId, Word>::first);
      const bool is_earlier = !sources[i].is_constant && saved != saved_.end() &&
                              std::find(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(i), sources[i].index) !=
                                  to.begin() + static_cast<std::ptrdiff_t>(i);
      if (is_earlier)
        move(saved->second, words_[to[i]]);
      else
        copy(sources[i], to[i]);
    }
    saved_.clear();
  }

  /// See Note [loop] in ir/module.hpp.
  void loop(const ir::Op& op) {
    const std::vector<ir::VarId>& variables = leaf_.regions[op.regions[0]].parameters;
    for (std::size_t i = 0; i < variables.size(); ++i) copy(op.operands[i], variables[i]);
    const std::size_t head = code_.instructions.size();
    region(op.regions[0]);
    std::size_t leave = 0;
    if (op.test_after) {
      region(op.regions[1]);
      leave = put(LeafOpcode::when, 0, word(op.condition));
    } else {
      leave = put(LeafOpcode::unless, 0, word(op.condition));
      region(op.regions[1]);
    }
    assign_at_once(op.nexts, variables);
    put(LeafOpcode::jump_back, static_cast<Word>(head));
    land(leave);
    for (std::size_t i = 0; i < op.results.size(); ++i) copy(ir::Operand::variable(variables[i]), op.results[i]);
  }

  // ---------------------------------------------------------------- calls

  void call(const ir::Op& op) {
    if (is_foreign(op)) return foreign(op);
    if (module_.functions[op.callee].kind != ir::FunctionKind::leaf) return refuse();
    vm::LeafCallCode site{op.callee, {}};
    for (const ir::VarId result : op.results) site.results.push_back(words_[result]);
    std::size_t passed = 0;  // behind the frame, whose size is known at the end
    for (const ir::Operand operand : op.operands) {
      if (const auto argument = arguments_.find(operand.index); !operand.is_constant && argument != arguments_.end()) {
        words_[operand.index] = static_cast<Word>(passed++);
        compute(*argument->second);
        passed_.push_back(code_.instructions.size() - 1);
        continue;
      }
      const bool is_pair = !operand.is_constant && is_array(operand.index);
      for (Word part = 0; part < (is_pair ? 2 : 1); ++part) {
        passed_.push_back(put(LeafOpcode::move, static_cast<Word>(passed++), static_cast<Word>(word(operand) + part)));
      }
    }
    code_.most_passed = std::max(code_.most_passed, static_cast<Word>(passed));
    code_.calls.push_back(std::move(site));
    put(LeafOpcode::call, static_cast<Word>(code_.calls.size() - 1));
  }

  /// @pre a call
  bool is_foreign(const ir::Op& op) const { return module_.functions[op.callee].kind == ir::FunctionKind::foreign; }
  /// Of two the second may turn out not to be there when the first one has been called.
  void foreign(const ir::Op& op) {
    if (!code_.foreign.empty()) return refuse();
    vm::LeafForeignCode site{op.callee, {}, words_[op.results[0]]};
    for (const ir::Operand operand : op.operands) {
      if (!is_number(kind(operand))) return refuse();
      site.arguments.push_back({value_kind(kind(operand)), word(operand)});
    }
    code_.foreign.push_back(std::move(site));
    put(LeafOpcode::foreign, 0);
  }

  void library(const ir::Op& op) {
    const stdlib::Builtin& builtin = stdlib::builtins()[op.callee];
    const bool has_result = !op.results.empty() && kind(ir::Operand::variable(op.results[0])) != TypeKind::void_;
    vm::LeafLibraryCode site{builtin.function, {}, has_result, has_result ? words_[op.results[0]] : Word{0}};
    for (const ir::Operand operand : op.operands) {
      const TypeKind type = kind(operand);
      if (type == TypeKind::array && builtin.name == "size" && op.results.size() == 1)
        return move(static_cast<Word>(word(operand) + 1), words_[op.results[0]]);
      if (type == TypeKind::string && operand.is_constant) {
        const auto& text = std::get<std::string>(module_.constants[operand.index]);
        site.arguments.push_back({vm::ValueKind::string, 0, vm::Value::of(text)});
        continue;
      }
      if (!is_number(type)) return refuse();
      site.arguments.push_back({value_kind(type), word(operand), {}});
    }
    if (has_result) site.lanes = lanes_of(builtin, op);
    code_.library.push_back(std::move(site));
    put(LeafOpcode::library, static_cast<Word>(code_.library.size() - 1));
  }

  /// Of mathematics of floats.
  const vm::math::LaneFunction* lanes_of(const stdlib::Builtin& builtin, const ir::Op& op) const {
    for (const ir::Operand operand : op.operands)
      if (kind(operand) != TypeKind::float_) return nullptr;
    const std::string_view name = builtin.name == "ln" ? "log" : builtin.name == "pow_float" ? "pow" : builtin.name;
    return vm::math::lane_function(name, static_cast<int>(op.operands.size()));
  }

  void refuse() { is_refused_ = true; }

  const ir::Module& module_;
  const ir::Function& leaf_;
  vm::LeafCode code_;
  std::size_t frame_words_ = 0;
  std::vector<Word> words_;                        ///< by variable: its first register
  std::vector<unsigned> uses_;                     ///< by variable
  std::map<std::int64_t, Word> constants_;         ///< by bits
  std::vector<std::pair<ir::VarId, Word>> saved_;  ///< of assign_at_once
  std::map<ir::VarId, const ir::Op*> arguments_;   ///< by the variable: see find_arguments
  std::vector<std::size_t> passed_;                ///< moves whose target lies behind the frame
  bool is_refused_ = false;
};

}  // namespace

vm::LeafCode emit_leaf_code(const ir::Module& module, const ir::Function& leaf) {
  return LeafEmitter(module, leaf).run();
}

}  // namespace raddle::emit
