#pragma once
// Builds leaf functions by hand: expressions in, operations out. Spans are numbered, so that a test can tell which
// operation has failed: the n-th made has begin n, end n + 1 and file 0.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/kernel_key.hpp"
#include "compiler/emit/emit_kernel.hpp"
#include "compiler/ir/module.hpp"
#include "stdlib/builtins.hpp"
#include "vm/kernel/kernel_bytes.hpp"

namespace raddle::codegen {

// words of the tests that build leaves
using ir::OpKind;
using Operand = ir::Operand;
using Operands = std::vector<Operand>;

inline constexpr TypeId int_ = TypeStore::int_, float_ = TypeStore::float_, boolean = TypeStore::boolean;
inline constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// A module with its types. Functions are added by LeafBuilder, in the order of their ids.
struct TestModule {
  TypeStore types;
  ir::Module module;
  std::map<ir::FunctionId, vm::KernelEntry> entries;  ///< of launched leaves
  TestModule() { module.types = &types; }
};

class LeafBuilder {
 public:
  using Operand = ir::Operand;
  using Body = std::function<void()>;

  LeafBuilder(TestModule& test, std::string name) : test_(test), id_(static_cast<ir::FunctionId>(count(test))) {
    ir::Function& added = test.module.functions.emplace_back();
    added.name = std::move(name);
    added.kind = ir::FunctionKind::leaf;
    added.regions.emplace_back();
  }
  ir::FunctionId id() const { return id_; }

  Operand parameter(TypeId type) { return listed(type, function().parameters); }
  Operand output(TypeId type) { return listed(type, function().outputs); }
  /// Declared in the region that is being filled.
  Operand variable(TypeId type) {
    const auto made = static_cast<ir::VarId>(function().variables.size());
    function().variables.push_back({"", type, {}, region_});
    return Operand::variable(made);
  }
  Operand number(std::int64_t value) { return Operand::constant(test_.module.constant(value)); }
  Operand number(double value) { return Operand::constant(test_.module.constant(value)); }
  Operand truth(bool value) { return Operand::constant(test_.module.constant(value)); }

  /// A new operation with one result, which is a new variable.
  Operand op(ir::OpKind kind, TypeId result, std::vector<Operand> operands, std::uint32_t callee = ir::none) {
    const Operand made = variable(result);
    add(kind, {made}, std::move(operands)).callee = callee;
    return made;
  }
  ir::Op& add(ir::OpKind kind, const std::vector<Operand>& results, std::vector<Operand> operands) {
    ir::Op& made = function().regions[region_].ops.emplace_back();
    made.kind = kind;
    for (Operand result : results) made.results.push_back(result.index);
    made.operands = std::move(operands);
    made.span = {0, next_span_, next_span_ + 1};
    ++next_span_;
    return made;
  }
  void copy(Operand to, Operand from) { add(ir::OpKind::copy, {to}, {from}); }
  void call(std::vector<Operand> results, ir::FunctionId callee, std::vector<Operand> arguments) {
    add(ir::OpKind::call, results, std::move(arguments)).callee = callee;
  }
  void if_(Operand condition, const Body& then, const Body& other) {
    const std::vector<ir::RegionId> arms = regions({then, other});
    add(ir::OpKind::if_, {}, {condition}).regions = arms;
  }
  /// @param arms  one for each label, then the default if there is one more
  void switch_(Operand value, std::vector<std::int64_t> labels, std::initializer_list<Body> arms) {
    const std::vector<ir::RegionId> made = regions(arms);
    ir::Op& added = add(ir::OpKind::switch_, {}, {value});
    added.regions = made;
    added.labels = std::move(labels);
  }

  /// @param test  gives the condition; @param body  gives the next values
  void loop(std::vector<Operand> results, std::vector<TypeId> types, std::vector<Operand> initial,
            const std::function<Operand(const std::vector<Operand>&)>& test,
            const std::function<std::vector<Operand>(const std::vector<Operand>&)>& body, bool test_after = false) {
    std::vector<Operand> variables, nexts;
    Operand condition;
    const ir::RegionId outer = region_;
    const ir::RegionId head = open(outer);
    for (TypeId type : types) variables.push_back(variable(type));
    for (Operand v : variables) function().regions[head].parameters.push_back(v.index);
    if (!test_after) condition = test(variables);
    const ir::RegionId rounds = open(head);
    nexts = body(variables);
    if (test_after) condition = test(variables);
    region_ = outer;
    ir::Op& added = add(ir::OpKind::loop, results, std::move(initial));
    added.regions = {head, rounds};
    added.condition = condition;
    added.nexts = nexts;
    added.test_after = test_after;
  }
  std::uint32_t next_span() const { return next_span_; }

 private:
  static std::size_t count(const TestModule& test) { return test.module.functions.size(); }
  ir::Function& function() { return test_.module.functions[id_]; }
  Operand listed(TypeId type, std::vector<ir::VarId>& list) {
    const Operand made = variable(type);
    list.push_back(made.index);
    return made;
  }
  ir::RegionId open(ir::RegionId parent) {
    region_ = static_cast<ir::RegionId>(function().regions.size());
    function().regions.emplace_back().parent = parent;
    return region_;
  }
  std::vector<ir::RegionId> regions(std::initializer_list<Body> bodies) {
    const ir::RegionId outer = region_;
    std::vector<ir::RegionId> made;
    for (const Body& body : bodies) {
      made.push_back(open(outer));
      body();
    }
    region_ = outer;
    return made;
  }

  TestModule& test_;
  const ir::FunctionId id_;
  ir::RegionId region_ = 0;
  std::uint32_t next_span_ = 1;
};

/// Index of a function of the library.
inline std::uint32_t builtin(std::string_view name) {
  const auto& all = stdlib::builtins();
  return static_cast<std::uint32_t>(std::ranges::find(all, name, &stdlib::Builtin::name) - all.begin());
}

inline vm::KernelGroup kernels_of(const TestModule& test, ir::FunctionId leaf) {
  const std::vector<vm::Kernel> kernels = emit::emit_kernels(test.module);
  std::vector<const vm::Kernel*> all;
  for (const vm::Kernel& kernel : kernels) all.push_back(&kernel);
  return vm::group_of(all, leaf);
}
inline vm::KernelEntry entry_of(const TestModule& test, ir::FunctionId leaf) {
  const auto entry = test.entries.find(leaf);
  return entry == test.entries.end() ? vm::KernelEntry::call : entry->second;
}
inline CodeRequest request_of(const TestModule& test, ir::FunctionId leaf) {
  return {vm::write_kernels(kernels_of(test, leaf)), entry_of(test, leaf)};
}

/// (int out) fib(int n)
inline void build_fib(LeafBuilder& leaf) {
  const Operand n = leaf.parameter(int_), out = leaf.output(int_);
  leaf.if_(
      leaf.op(OpKind::lt, boolean, {n, leaf.number(std::int64_t{2})}), [&] { leaf.copy(out, n); },
      [&] {
        const Operand one = leaf.op(OpKind::sub, int_, {n, leaf.number(std::int64_t{1})});
        const Operand a = leaf.op(OpKind::call, int_, {one}, leaf.id());
        const Operand two = leaf.op(OpKind::sub, int_, {n, leaf.number(std::int64_t{2})});
        const Operand b = leaf.op(OpKind::call, int_, {two}, leaf.id());
        leaf.add(OpKind::add, {out}, {a, b});
      });
}

}  // namespace raddle::codegen
