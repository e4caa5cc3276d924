#include <doctest/doctest.h>

#include <string>

#include "compiler/ir/print.hpp"
#include "compiler/ir/read_text.hpp"
#include "compiler/ir/verify.hpp"
#include "compiler/opt/bodies/common_subexpressions.hpp"
#include "compiler/opt/bodies/dead_code.hpp"
#include "compiler/opt/bodies/fold_constants.hpp"
#include "compiler/opt/launches/gather_calls.hpp"
#include "compiler/opt/leaves/infer_leaves.hpp"
#include "compiler/opt/bodies/inline_calls.hpp"
#include "compiler/opt/bodies/order_operations.hpp"
#include "compiler/opt/pipeline.hpp"

namespace raddle::opt {
namespace {

struct Script {
  explicit Script(const std::string& text) {
    std::expected<ir::Module, std::string> read = ir::read_text(text, types);
    REQUIRE_MESSAGE(read.has_value(), read.error());
    module = std::move(*read);
    REQUIRE(ir::verify(module) == std::vector<std::string>{});
  }
  /// Function @f after a pass.
  std::string text() const {
    CHECK(ir::verify(module) == std::vector<std::string>{});
    return ir::print(module, module.functions[module.find("f")]);
  }
  TypeStore types;
  ir::Module module;
};

std::string function(const std::string& body,
                     const std::string& head = "composite (%x: int, %c: boolean) -> (%y: int)") {
  return "function @f " + head + " {\n" + body + "}\n";
}

std::string after(void (*pass)(ir::Module&), const std::string& body) {
  Script script("entry @f\n" + function(body));
  pass(script.module);
  return script.text();
}

TEST_CASE("fold-constants computes what can not fail and lets readers take the constant") {
  CHECK(after(fold_constants, "  %0: int = mul 2, 3\n  %y = add %x, %0\n") ==
        function("  %0: int = copy 6\n  %y = add %x, 6\n"));
  CHECK(after(fold_constants, "  %y = idiv 1, 0\n") == function("  %y = idiv 1, 0\n"));
  CHECK(after(fold_constants, "  %y = add 9223372036854775807, 1\n") ==
        function("  %y = add 9223372036854775807, 1\n"));
  SUBCASE("a variable that branches assign too is left alone") {
    const std::string twice = "  %a: int = copy 1\n  if %c {\n    %a = copy 2\n  }\n  %y = add %a, %x\n";
    CHECK(after(fold_constants, twice) == function(twice));
    CHECK(after(remove_dead_code, twice) == function(twice));
  }
}

TEST_CASE("dead-code drops what nobody reads, and what only that read") {
  CHECK(after(remove_dead_code, "  %0: boolean = eq %x, 2\n  %1: boolean = not %0\n  %y = copy %x\n") ==
        function("  %y = copy %x\n"));
  SUBCASE("what may fail stays") {
    const std::string overflows = "  %0: int = mul %x, 2\n  %y = copy %x\n";
    CHECK(after(remove_dead_code, overflows) == function(overflows));
  }
  SUBCASE("writers stay") {
    const std::string writes = "  %a: int[] = array_new writers 1\n  array_insert %a, 0, %x\n  %y = copy %x\n";
    CHECK(after(remove_dead_code, writes) == function(writes));
  }
  SUBCASE("library functions stay: they may fail, too") {
    const std::string calls = "  %0: int = call_builtin @strlen \"abc\"\n  %y = copy %x\n";
    CHECK(after(remove_dead_code, calls) == function(calls));
  }
}

TEST_CASE("common-subexpressions shares within a region and from those around it") {
  CHECK(after(share_common_subexpressions,
              "  %0: int = mul %x, %x\n  %1: int = mul %x, %x\n  if %c {\n    %2: int = mul %x, %x\n"
              "    %y = add %2, %1\n  }\n") ==
        function("  var %0: int\n  %1: int = mul %x, %x\n  if %c {\n    var %2: int\n    %y = add %1, %1\n  }\n"));
  SUBCASE("not between branches") {
    const std::string branches =
        "  if %c {\n    %0: int = mul %x, %x\n    %y = copy %0\n  } {\n"
        "    %1: int = mul %x, %x\n    %y = copy %1\n  }\n";
    CHECK(after(share_common_subexpressions, branches) == function(branches));
  }
}

TEST_CASE("gather-calls brings calls of a leaf together that need nothing of each other") {
  const std::string head = "leaf (%n: int) -> (%y: int)";
  const auto gathered = [&](const std::string& body) {
    Script script("entry @f\n" + function(body, head));
    gather_calls(script.module);
    return script.text();
  };
  CHECK(gathered("  %p: int = sub %n, 1\n  %q: int = call @f %p\n  %r: int = sub %n, 2\n  %s: int = call @f %r\n"
                 "  %y = add %q, %s\n") ==
        function("  %p: int = sub %n, 1\n  %r: int = sub %n, 2\n  %q: int = call @f %p\n  %s: int = call @f %r\n"
                 "  %y = add %q, %s\n",
                 head));
  SUBCASE("not those that need one of the others, nor what only needs other calls") {
    const std::string chain = "  %q: int = call @f %n\n  %r: int = sub %q, 2\n  %y = call @f %r\n";
    CHECK(gathered(chain) == function(chain, head));
    CHECK(gathered("  %q: int = call @f %n\n  %r: int = add %q, 1\n  %s: int = call @f %r\n  %t: int = sub %n, 1\n"
                   "  %u: int = call @f %t\n  %y = add %s, %u\n") ==
          function("  %t: int = sub %n, 1\n  %q: int = call @f %n\n  %u: int = call @f %t\n  %r: int = add %q, 1\n"
                   "  %s: int = call @f %r\n  %y = add %s, %u\n",
                   head));
  }
  SUBCASE("not across an operation that may take long and is needed") {
    const std::string branch =
        "  var %r: int\n  %q: int = call @f %n\n  %s: boolean = lt %n, 1\n  if %s {\n    %r = copy %n\n  } {\n"
        "    %r = sub %n, 1\n  }\n  %t: int = call @f %r\n  %y = add %q, %t\n";
    CHECK(gathered(branch) == function(branch, head));
  }
}

TEST_CASE("order-operations puts readers behind, nested ones too, and keeps cycles") {
  CHECK(after(order_operations, "  if %c {\n    %y = copy %a\n  }\n  %a: int = add %b, 1\n  %b: int = mul %x, 2\n") ==
        function("  %b: int = mul %x, 2\n  %a: int = add %b, 1\n  if %c {\n    %y = copy %a\n  }\n"));
  const std::string cycle = "  %a: int = add %b, 1\n  %b: int = add %a, 1\n  %y = copy %b\n";
  CHECK(after(order_operations, cycle) == function(cycle));
}

TEST_CASE("inline-calls takes small bodies that can not fail") {
  const std::string callees =
      "function @half composite (%v: float) -> (%w: float) {\n  %0: float = div %v, 2.0\n  %w = add %0, 1.0\n}\n"
      "function @may_fail composite (%v: int) -> (%w: int) {\n  %w = add %v, 1\n}\n";
  const std::string head = "composite (%x: float) -> (%y: float)";
  Script script("entry @f\n" +
                function("  %a: float = call @half %x\n  %y = call @half %a\n  %0: int = call @may_fail 1\n", head) +
                callees);
  inline_calls(script.module);
  CHECK(script.text() == function("  %0: float = div %x, 2.0\n  %a: float = add %0, 1.0\n"
                                  "  %1: float = div %a, 2.0\n  %y = add %1, 1.0\n  %2: int = call @may_fail 1\n",
                                  head));
}

/// Reason why @f is no leaf; "" if it is one.
std::string leaf_obstacle(const std::string& body, const std::string& head) {
  Script script("entry @main\nfunction @main composite () -> () {\n}\n" + function(body, head));
  Diagnostics diagnostics;
  infer_leaves(script.module, diagnostics);
  const ir::Function& f = script.module.functions[script.module.find("f")];
  CHECK((f.kind == ir::FunctionKind::leaf) == f.not_leaf_reason.empty());
  return f.not_leaf_reason;
}

TEST_CASE("infer-leaves") {
  const std::string head = "composite (%x: int, %c: boolean, %a: float[]) -> (%y: int)";
  CHECK(leaf_obstacle("  if %c {\n    %y = copy 1\n  } {\n    %y = call @f %x, true, %a\n  }\n", head) == "");
  CHECK(leaf_obstacle("  %y = loop %x test %0 next %1 {(%n: int)\n    %0: boolean = lt %n, 9\n  } {\n"
                      "    %1: int = add %n, 1\n  }\n",
                      head) == "");
  CHECK(leaf_obstacle("  %0: float = array_get %a, %x\n  %1: float = call_builtin @sqrt %0\n"
                      "  %y = call_builtin @float2int %1\n",
                      head) == "");
  CHECK(leaf_obstacle("  if %c {\n    %y = copy 1\n  }\n", head) == "`y` is not assigned on every path");
  CHECK(leaf_obstacle("  %y = copy 1\n  if %c {\n    %y = copy 2\n  }\n", head) == "`y` may be assigned twice");
  CHECK(leaf_obstacle("  %y = call_builtin @strlen \"abc\"\n", head) == "it uses strings");
  CHECK(leaf_obstacle("  %y = copy 1\n  %0: void = call_builtin @trace %x\n", head) == "it calls `trace`");
  CHECK(leaf_obstacle("  %y = copy 1\n  foreach_range 1, 2, 1 {(%i: int)\n  }\n", head) ==
        "it has a `foreach`: a leaf's loops are `for` and `iterate`");
  CHECK(leaf_obstacle("  %z: int = add %b, 1\n  %b: int = copy %z\n  %y = copy %b\n", head) ==
        "`b` may be read before it is assigned");
}

TEST_CASE("@leaf that can not be one is reported") {
  Script script(
      "entry @f\nfunction @f composite () -> () {\n}\n"
      "function @g composite demands_leaf (%s: string) -> (%y: int) {\n  %y = copy 1\n}\n");
  Diagnostics diagnostics;
  infer_leaves(script.module, diagnostics);
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].message == "`g` can not be a leaf function: `s` has the type string");
}

TEST_CASE("the pipeline leaves out disabled passes") {
  Options options;
  options.disabled = {"fold-constants", "dead-code"};
  const std::string body = "  %0: int = mul 2, 3\n  %y = add %x, %0\n";
  Script script("entry @f\n" + function(body));
  Diagnostics diagnostics;
  optimise(script.module, options, diagnostics);
  CHECK(script.text() == function(body));
}

}  // namespace
}  // namespace raddle::opt
