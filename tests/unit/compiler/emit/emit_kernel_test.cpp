#include "compiler/emit/emit_kernel.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "compiler/emit/emit_program.hpp"
#include "compiler/ir/read_text.hpp"
#include "vm/kernel/kernel_bytes.hpp"
#include "vm/kernel/kernel_text.hpp"
#include "vm/kernel/scalar_machine.hpp"
#include "vm/kernel/verify_kernel.hpp"

namespace raddle {

namespace {

using Outcome = vm::ScalarMachine::Outcome;

/// It is a kernel, and the same one after it was written and read, as text and as bytes.
void check_kernel(const vm::Kernel& kernel) {
  if (!kernel.exists()) return;
  CHECK(vm::verify_kernel(kernel) == "");
  const std::string text = vm::print_kernel(kernel, 1);
  const auto read = vm::read_kernels(text);
  REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error()), " in\n", text);
  REQUIRE(read->size() == 1);
  CHECK(read->front().id == 1);
  CHECK(read->front().kernel == kernel);
  if (!kernel.calls.empty()) return;  // of kernels that are not there
  const auto from_bytes = vm::read_kernel_bytes(vm::write_kernels({kernel}));
  REQUIRE_MESSAGE(from_bytes.has_value(), (from_bytes ? "" : from_bytes.error()));
  CHECK(*from_bytes == vm::KernelGroup{kernel});
}

/// A program whose function 1 is a leaf, and a machine for it.
struct Leaf {
  explicit Leaf(const std::string& functions) {
    const auto module = ir::read_text("entry @main\nfunction @main composite () -> () {\n}\n" + functions, types);
    REQUIRE_MESSAGE(module.has_value(), (module ? "" : module.error()));
    program = emit_program(*module);
    check_kernel(program.kernels[1]);
    for (const vm::ForeignFunction& function : program.foreigns)
      foreigns.push_back(vm::make_foreign_code(function, nullptr));
  }
  Outcome run(const std::vector<std::int64_t>& arguments, unsigned patience = 1000) {
    vm::ScalarMachine machine(program, foreigns);
    return machine.run(1, arguments, results.data(), [&] { return patience-- > 0; });
  }
  bool has_code() const { return program.functions[1].scalar_code.exists(); }

  TypeStore types;
  vm::Program program;
  vm::ScalarMachine::Foreigns foreigns;
  std::vector<std::int64_t> results = std::vector<std::int64_t>(8);
};

constexpr const char* fib = R"(
  function @fib leaf (%k: int) -> (%o: int) {
    %0: boolean = lt %k, 2
    if %0 {
      %o = copy %k
    } {
      %1: int = sub %k, 1
      %2: int = call @fib %1
      %3: int = sub %k, 2
      %4: int = call @fib %3
      %o = add %2, %4
    }
  })";

}  // namespace

TEST_CASE("calls, each with registers of its own") {
  Leaf leaf(fib);
  REQUIRE(leaf.run({25}) == Outcome::done);
  CHECK(leaf.results[0] == 75025);
}

TEST_CASE("loop variables are assigned at once; a loop without end stops when it is told to") {
  Leaf leaf(R"(
    function @swap leaf (%n: int) -> (%a: int, %b: int) {
      %0: int, %x: int, %y: int = loop 0, 1, 2 test %1 next %2, %y.1, %x.1 {(%i: int, %x.1: int, %y.1: int)
        %1: boolean = ne %i, %n
      } {
        %2: int = add %i, 1
      }
      %a = copy %x
      %b = copy %y
    })");
  REQUIRE(leaf.run({3}) == Outcome::done);
  CHECK(leaf.results[0] == 2);
  CHECK(leaf.results[1] == 1);
  REQUIRE(leaf.run({100'004}) == Outcome::done);  // with pauses
  CHECK(leaf.results[0] == 1);
  CHECK(leaf.run({-1}, 5) == Outcome::stopped);
}

TEST_CASE("what can not be computed fails: overflow, division by zero, an index, too many open calls") {
  Leaf arithmetic(R"(
    function @f leaf (%a: int, %b: int) -> (%q: int, %s: int) {
      %q = idiv %a, %b
      %s = mul %a, %b
    })");
  REQUIRE(arithmetic.run({7, -2}) == Outcome::done);
  CHECK(arithmetic.results[0] == -3);
  CHECK(arithmetic.results[1] == -14);
  CHECK(arithmetic.run({7, 0}) == Outcome::failed);
  CHECK(arithmetic.run({std::numeric_limits<std::int64_t>::min(), -1}) == Outcome::failed);
  CHECK(arithmetic.run({std::int64_t{1} << 62, 2}) == Outcome::failed);

  Leaf element(R"(
    function @f leaf (%a: float[], %i: int) -> (%o: float) {
      %o = array_get %a, %i
    })");
  const double numbers[] = {0.5, 1.5};
  const auto address = reinterpret_cast<std::int64_t>(numbers);
  REQUIRE(element.run({address, 2, 1}) == Outcome::done);
  CHECK(std::bit_cast<double>(element.results[0]) == 1.5);
  CHECK(element.run({address, 2, 2}) == Outcome::failed);
  CHECK(element.run({address, 2, -1}) == Outcome::failed);

  Leaf deep(R"(
    function @f leaf (%k: int) -> (%o: int) {
      %1: int = add %k, 1
      %2: int = call @f %1
      %o = add %2, 1
    })");
  CHECK(deep.run({0}, 1'000'000) == Outcome::failed);
}

TEST_CASE("branches of a switch, fused operations, functions of the library") {
  Leaf leaf(R"(
    function @f leaf (%k: int, %x: float) -> (%o: float) {
      switch %k labels [1, 4] {
        %o = mul_sub %x, %x, 1.0
      } {
        %1: float = call_builtin @sqrt %x types [float]
        %o = copy %1
      } {
        %2: boolean = ge %x, 0.0
        %3: boolean = not %2
        if %3 {
          %o = neg %x
        } {
          %4: float = int_to_float %k
          %o = sub_mul %x, %4, 100.0
        }
      }
    })");
  const auto at = [&](std::int64_t k, double x) {
    REQUIRE(leaf.run({k, std::bit_cast<std::int64_t>(x)}) == Outcome::done);
    return std::bit_cast<double>(leaf.results[0]);
  };
  CHECK(at(1, 3.0) == 8.0);
  CHECK(at(4, 2.25) == 1.5);
  CHECK(at(0, -2.0) == 2.0);
  CHECK(at(7, 2.0) == 86.0);
  CHECK(leaf.run({4, std::bit_cast<std::int64_t>(-1.0)}) == Outcome::failed);  // no root
}

TEST_CASE("a result that nobody reads, and a function of the library without one") {
  for (const char* const void_call : {"%3: void = call_builtin", "call_builtin"}) {
    Leaf leaf(fmt::format(R"(
      function @f leaf (%k: int) -> (%o: int) {{
        %1: int = call @double %k
        %2: boolean = lt %k, 10
        {} @assert %2, "too large" types [boolean, string]
        %o = copy %k
      }}
      function @double leaf (%k: int) -> (%o: int) {{
        %o = add %k, %k
      }})",
                          void_call));
    REQUIRE(leaf.run({7}) == Outcome::done);
    CHECK(leaf.results[0] == 7);
    CHECK(leaf.run({12}) == Outcome::failed);
  }
}

TEST_CASE(
    "a C function of numbers is called; a second one, which might not be there, makes that there is no such code") {
  const std::string labs = R"(
    function @labs foreign not_leaf "C" (%i: int) -> (%o: int) {
      command %i
      code 0 "libc.so.6" "" "labs" "" ""
    })";
  Leaf one(R"(
    function @f leaf (%k: int) -> (%o: int) {
      %1: int = sub %k, 10
      %o = call @labs %1
    })" + labs);
  REQUIRE(one.run({3}) == Outcome::done);
  CHECK(one.results[0] == 7);
  CHECK(one.run({std::numeric_limits<std::int64_t>::min()}) == Outcome::failed);

  const Leaf two(R"(
    function @f leaf (%k: int) -> (%o: int) {
      %1: int = call @labs %k
      %o = call @labs %1
    })" + labs);
  CHECK(!two.has_code());

  Leaf missing(R"(
    function @f leaf (%x: float) -> (%o: float) {
      %o = call @nothing %x
    }
    function @nothing foreign not_leaf "C" (%x: float) -> (%o: float) {
      command %x
      code 0 "libno_such_thing.so" "" "nothing" "" ""
    })");
  CHECK(missing.run({0}) == Outcome::failed);
}

TEST_CASE("what needs more than registers has no such code, nor has what calls it") {
  const Leaf leaf(R"(
    function @f leaf (%k: int) -> (%o: int) {
      %o = call @g %k
    }
    function @g leaf (%k: int) -> (%o: int) {
      %1: string = concat "a", %k
      %o = call_builtin @strlen %1 types [string]
    })");
  CHECK(!leaf.has_code());
  CHECK(Leaf(fib).has_code());
}

TEST_CASE("functions of the library are told apart by their arguments' types") {
  const auto find = [](std::string_view name, std::vector<vm::KernelType> inputs) {
    return vm::operation_of_function(name, inputs);
  };
  CHECK(find("abs", {vm::KernelType::int_}) == vm::KernelOp::abs_int);
  CHECK(find("abs", {vm::KernelType::float_}) == vm::KernelOp::abs_float);
  CHECK(find("ln", {vm::KernelType::float_}) == vm::KernelOp::log);
  CHECK(find("log", {vm::KernelType::float_, vm::KernelType::float_}) == vm::KernelOp::log_base);
  CHECK(find("log", {vm::KernelType::int_, vm::KernelType::float_}) == vm::KernelOp::if_);
  CHECK(find("printf", {vm::KernelType::int_}) == vm::KernelOp::if_);
  CHECK(vm::info(vm::KernelOp::is_nan).result == 'b');
  CHECK(vm::info(vm::KernelOp::sqrt).failure == vm::KernelFailure::domain);
}

TEST_CASE("kernels as text") {
  TypeStore types;
  const auto module = ir::read_text(R"(
    entry @main
    function @main composite () -> () {
    }
    function @f leaf (%a: float[], %n: int) -> (%o: float) {
      %0: int, %s: float = loop 0, 0.5 test %1 next %3, %5 {(%i: int, %s.1: float)
        %1: boolean = lt %i, %n
      } {
        %2: float = array_get %a, %i
        %3: int = add %i, 1
        var %5: float
        %4: boolean = gt %2, %s.1
        if %4 {
          %5 = call @g %2
        } {
          %5 = copy %s.1
        }
      }
      %o = copy %s
    }
    function @g leaf (%x: float) -> (%o: float) {
      %o = call_builtin @sqrt %x types [float]
    })",
                                    types);
  REQUIRE_MESSAGE(module.has_value(), (module ? "" : module.error()));
  const std::vector<vm::Kernel> kernels = emit::emit_kernels(*module);
  CHECK(!kernels[0].exists());
  CHECK(vm::verify_kernels(kernels) == "");
  CHECK(vm::print_kernel(kernels[1], 1) ==
        R"(kernel 1 "f" at 0:0-0 (%0: float[], %1: int) -> (%12) {
  const %2: int = 0
  const %3: float = 0.5
  const %4: int = 1
  loop (%5: int, %6: float) = (%2, %3) at 0:0-0 {
    %7: boolean = lt_int %5 %1 at 0:0-0
  } while %7 {
    %8: float = get_float %0 %5 at 0:0-0
    %9: int = add_int %5 %4 at 0:0-0
    %10: boolean = lt_float %6 %8 at 0:0-0
    if %10 at 0:0-0 {
      (%11: float) = call 2 (%8) at 0:0-0
    } else {
      %11: float = copy %6 at 0:0-0
    }
  } next (%9, %11)
  %12: float = copy %6 at 0:0-0
}
)");
  // a group has numbers of its own, and no other ones
  std::vector<const vm::Kernel*> all;
  for (const vm::Kernel& kernel : kernels) all.push_back(&kernel);
  const vm::KernelGroup group = vm::group_of(all, 1);
  REQUIRE(group.size() == 2);
  CHECK(group[0].calls[0].kernel == 1);
  const std::string bytes = vm::write_kernels(group);
  const auto read = vm::read_kernel_bytes(bytes);
  REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error()));
  CHECK(*read == group);
  CHECK(vm::hash_of(*read) == vm::hash_of(group));
  for (std::size_t size = 0; size < bytes.size(); ++size) CHECK(!vm::read_kernel_bytes(bytes.substr(0, size)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {  // any bytes: read or refused
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 0x55);
    static_cast<void>(vm::read_kernel_bytes(other));
  }
}

TEST_CASE("what is no kernel is refused, with the reason") {
  const auto fault = [](const std::string& body, const char* outputs = "") {
    const auto read =
        vm::read_kernels(fmt::format("kernel 0 \"k\" at 0:0-0 (%0: int, %1: int[]) -> ({}) {{\n{}\n}}", outputs, body));
    return read ? std::string() : read.error();
  };
  const std::string at = " at 0:0-0\n";
  CHECK(fault("%2: int = add_int %0 %0" + at, "%2") == "");
  CHECK(fault("%2: int = add_int %0 %3" + at + "%3: int = copy %0" + at) ==
        "kernel `k`: %3 is read before it is assigned");
  CHECK(fault("%2: int = add_int %0 %1" + at) == "kernel `k`: `add_int` of %1, whose type is int[]");
  CHECK(fault("%2: float = add_int %0 %0" + at) == "kernel `k`: `add_int` gives no float");
  CHECK(fault("%2: int = copy %0" + at + "%2: int = copy %0" + at) == "kernel `k`: %2 is assigned twice");
  CHECK(fault("%2: int[] = copy %1" + at) == "kernel `k`: `copy` of %1, whose type is int[]");
  CHECK(fault("if %0" + at + "{ }") == "kernel `k`: %0 is no boolean");
  CHECK(fault("%2: int = noise %0" + at) == "line 2: an operation expected");
  CHECK(fault("%2: boolean = lt_int %0 %0" + at + "if %2" + at + "{ %3: int = copy %0" + at + "}", "%3") ==
        "kernel `k`: %3 is read before it is assigned");
  CHECK(fault("", "%1") == "kernel `k`: an output is an array");
}

}  // namespace raddle
