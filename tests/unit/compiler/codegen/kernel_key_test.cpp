#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "compiler/codegen/build_id.hpp"
#include "compiler/codegen/cpu_identity.hpp"
#include "compiler/codegen/kernel_key.hpp"
#include "tests/unit/compiler/codegen/leaf_builder.hpp"

namespace raddle::codegen {
namespace {

/// A leaf that calls another, which adds a constant.
struct Program {
  TestModule test;
  bool unrolls_recursion = true;
  ir::FunctionId caller = 0, callee = 1;

  Program() {
    LeafBuilder outer(test, "outer"), inner(test, "inner");
    const Operand x = outer.parameter(int_), out = outer.output(int_);
    outer.call({out}, inner.id(), {x});
    inner.add(OpKind::add, {inner.output(int_)}, {inner.parameter(int_), inner.number(std::int64_t{1})});
  }
  ir::Op& addition() { return test.module.functions[callee].regions[0].ops[0]; }
  std::string key(std::string_view compiler = "compiler", std::string_view cpu = "cpu") const {
    CodeRequest request = request_of(test, caller);
    request.unrolls_recursion = unrolls_recursion;
    return kernel_key(request, compiler, cpu);
  }
};

bool changes_key(const std::function<void(Program&)>& change) {
  Program program;
  change(program);
  return program.key() != Program().key();
}

}  // namespace

TEST_CASE("the key of a kernel changes with all that its code depends on") {
  CHECK_FALSE(changes_key([](Program&) {}));
  CHECK(Program().key("other") != Program().key());
  CHECK(Program().key("compiler", "other") != Program().key());
  CHECK(changes_key([](Program& program) { program.unrolls_recursion = false; }));
  CHECK(changes_key([](Program& program) { program.caller = program.callee; }));

  // of what it calls: operation, constant, types, position, which says where it failed, whether it is called for many
  // points
  CHECK(changes_key([](Program& program) { program.addition().kind = OpKind::sub; }));
  CHECK(changes_key([](Program& program) {
    program.addition().operands[1] = Operand::constant(program.test.module.constant(std::int64_t{2}));
  }));
  CHECK(changes_key([](Program& program) {
    for (ir::Var& variable : program.test.module.functions[program.callee].variables) variable.type = float_;
  }));
  CHECK(changes_key([](Program& program) { program.addition().span.begin += 1; }));
  CHECK(changes_key([](Program& program) { program.addition().span.file += 1; }));
  for (const vm::KernelEntry entry : {vm::KernelEntry::points, vm::KernelEntry::lanes})
    CHECK(changes_key([&](Program& program) { program.test.entries[program.caller] = entry; }));
}

TEST_CASE("the key tells types of one name, and constants that look alike") {
  const auto with_constant = [](ir::Constant constant) {
    return [constant](Program& program) {
      program.addition().operands[1] = Operand::constant(program.test.module.constant(constant));
    };
  };
  const auto key_with = [](const std::function<void(Program&)>& change) {
    Program program;
    change(program);
    return program.key();
  };
  CHECK(key_with(with_constant(0.0)) != key_with(with_constant(-0.0)));
  CHECK(key_with(with_constant(1.0)) != key_with(with_constant(std::int64_t{1})));
  const auto named = [](TypeId base) {
    return [base](Program& program) {
      const TypeId number = program.test.types.new_named("number", base);
      for (ir::Var& variable : program.test.module.functions[program.callee].variables) variable.type = number;
    };
  };
  CHECK(key_with(named(int_)) != key_with(named(float_)));
}

TEST_CASE("the key does not change with functions that the leaf does not call") {
  CHECK_FALSE(changes_key([](Program& program) {
    LeafBuilder other(program.test, "other");
    other.copy(other.output(int_), other.parameter(int_));
  }));
}

TEST_CASE("the CPU and the plugin have an identity") {
  CHECK(cpu_identity().size() > 50);
  CHECK(cpu_identity() == cpu_identity());
  CHECK(build_id(RADDLE_PLUGIN).size() == 20);
  CHECK(build_id("/nowhere/libraddle_codegen.so") == "");
  CHECK(build_id("/proc/self/status") == "");
}

}  // namespace raddle::codegen
