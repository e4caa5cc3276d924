#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

#include "compiler/codegen/background_compiler.hpp"
#include "tests/unit/compiler/codegen/leaf_builder.hpp"
#include "tests/unit/compiler/codegen/temporary_folder.hpp"

namespace raddle::codegen {
namespace {

constexpr unsigned threads = 4;
constexpr const char* no_plugin = "/nowhere/libraddle_codegen.so";

/// `scaled`: 3x + 4, by way of a call. `doubled`: 2x.
struct CompiledProgram {
  TestModule test;
  ir::FunctionId scaled = 0, doubled = 0;

  CompiledProgram() {
    LeafBuilder outer(test, "scaled"), inner(test, "three_times"), other(test, "doubled");
    const Operand x = outer.parameter(TypeStore::int_), out = outer.output(TypeStore::int_);
    const Operand product = outer.op(OpKind::call, TypeStore::int_, {x}, inner.id());
    outer.add(OpKind::add, {out}, {product, outer.number(std::int64_t{4})});
    inner.add(OpKind::mul, {inner.output(TypeStore::int_)},
              {inner.parameter(TypeStore::int_), inner.number(std::int64_t{3})});
    other.add(OpKind::mul, {other.output(TypeStore::int_)},
              {other.parameter(TypeStore::int_), other.number(std::int64_t{2})});
    scaled = outer.id();
    doubled = other.id();
  }
};

std::future<raddle_leaf_function> ask(BackgroundCompiler& compiler, const CompiledProgram& program,
                                      ir::FunctionId leaf) {
  auto answer = std::make_shared<std::promise<raddle_leaf_function>>();
  compiler.request(kernels_of(program.test, leaf), vm::KernelEntry::call,
                   [answer](raddle_leaf_function code) { answer->set_value(code); });
  return answer->get_future();
}

std::int64_t call(raddle_leaf_function code, std::int64_t argument) {
  REQUIRE(!!code);
  std::int64_t result = 0;
  raddle_leaf_failure failure;
  raddle_leaf_worker worker{};
  CHECK(code(&worker, &argument, &result, &failure) == raddle_leaf_ok);
  return result;
}

/// What one run with that cache does.
LeafCounters run(const std::string& cache_folder, const std::string& plugin) {
  CompiledProgram program;
  BackgroundCompiler compiler(/*unrolls_recursion=*/true, threads, cache_folder, plugin);
  CHECK(call(ask(compiler, program, program.scaled).get(), 5) == 19);
  return compiler.counters();
}

}  // namespace

TEST_CASE("the background compiler answers every request, compiling each leaf once") {
  CompiledProgram program;
  BackgroundCompiler compiler(/*unrolls_recursion=*/true, threads, "", RADDLE_PLUGIN);
  auto first = ask(compiler, program, program.scaled), other = ask(compiler, program, program.doubled),
       second = ask(compiler, program, program.scaled);
  const raddle_leaf_function code = first.get();
  CHECK(call(code, 2) == 10);
  CHECK(call(other.get(), 2) == 4);
  CHECK((second.get() == code));
  CHECK(compiler.counters().compiled == 2);
  CHECK(compiler.counters().from_cache == 0);
}

TEST_CASE("a second run takes the leaf from the cache, with another cache folder it is compiled again") {
  const TemporaryFolder folder;
  CHECK(run(folder / "jit", RADDLE_PLUGIN).compiled == 1);
  const LeafCounters second = run(folder / "jit", RADDLE_PLUGIN);
  CHECK(second.compiled == 0);
  CHECK(second.from_cache == 1);
  CHECK(run(folder / "other", RADDLE_PLUGIN).compiled == 1);
  CHECK(run("", RADDLE_PLUGIN).compiled == 1);
}

TEST_CASE("a damaged file in the cache is compiled again and replaced") {
  const TemporaryFolder folder;
  run(folder / "jit", RADDLE_PLUGIN);
  const std::filesystem::path file = std::filesystem::directory_iterator(folder / "jit")->path();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  CHECK(run(folder / "jit", RADDLE_PLUGIN).compiled == 1);
  CHECK(run(folder / "jit", RADDLE_PLUGIN).from_cache == 1);
}

TEST_CASE("a GPU gets PTX of what it can run, which is kept in the cache; nothing of what calls itself") {
  const TemporaryFolder folder;
  CompiledProgram program;
  LeafBuilder endless(program.test, "endless");
  const Operand x = endless.parameter(TypeStore::int_);
  endless.copy(endless.output(TypeStore::int_), endless.op(OpKind::call, TypeStore::int_, {x}, endless.id()));
  const auto ptx = [&](ir::FunctionId leaf) {
    BackgroundCompiler compiler(/*unrolls_recursion=*/true, threads, folder / "jit", RADDLE_PLUGIN);
    std::promise<std::string> answer;
    compiler.request_ptx(kernels_of(program.test, leaf), vm::KernelEntry::range,
                         [&answer](std::string text) { answer.set_value(std::move(text)); });
    return answer.get_future().get();
  };
  const std::string text = ptx(program.scaled);
  CHECK(text.find(".version 7.8") != std::string::npos);
  CHECK(text.find(".target sm_70") != std::string::npos);
  CHECK(text.find(".visible .entry raddle_range(") != std::string::npos);
  using Files = std::filesystem::directory_iterator;
  CHECK(std::distance(Files(folder / "jit"), Files()) == 1);
  CHECK(ptx(program.scaled) == text);
  CHECK(ptx(endless.id()).empty());
}

TEST_CASE("a GPU gets a super kernel of all kernels it can run, which is kept in the cache") {
  const TemporaryFolder folder;
  CompiledProgram program;
  const auto ptx = [&](const std::vector<ir::FunctionId>& leaves) {
    BackgroundCompiler compiler(/*unrolls_recursion=*/true, threads, folder / "jit", RADDLE_PLUGIN);
    std::vector<vm::RangeKernel> ranges;
    for (const ir::FunctionId leaf : leaves) ranges.push_back({kernels_of(program.test, leaf), vm::KernelEntry::range});
    std::promise<std::string> answer;
    compiler.request_super_ptx(ranges, [&answer](std::string text) { answer.set_value(std::move(text)); });
    return answer.get_future().get();
  };
  const std::string one = ptx({program.scaled}), two = ptx({program.scaled, program.scaled});
  for (const std::string& text : {one, two}) {
    CHECK(text.find(".target sm_70") != std::string::npos);
    CHECK(text.find(".visible .entry raddle_super(") != std::string::npos);
    CHECK(text.find("st.release.sys.v2.u64") != std::string::npos);
  }
  CHECK(one != two);
  using Files = std::filesystem::directory_iterator;
  CHECK(std::distance(Files(folder / "jit"), Files()) == 2);
  CHECK(ptx({program.scaled, program.scaled}) == two);
}

TEST_CASE("without the plugin every leaf is answered: it is interpreted") {
  const TemporaryFolder folder;
  CompiledProgram program;
  BackgroundCompiler compiler(/*unrolls_recursion=*/true, threads, folder / "jit", no_plugin);
  for (int i = 0; i < 3; ++i) CHECK(!ask(compiler, program, program.scaled).get());
  const auto text = Plugin(no_plugin).llvm_text("", {}, /*unrolls_recursion=*/true, /*optimised=*/false);
  REQUIRE(!text);
  CHECK(text.error().find(no_plugin) != std::string::npos);
}

TEST_CASE("a file beside the tool that is no plugin is no more than a missing one") {
  const TemporaryFolder folder;
  std::ofstream(folder / "libraddle_codegen.so") << "not a library";
  CompiledProgram program;
  BackgroundCompiler compiler(/*unrolls_recursion=*/true, threads, folder / "jit", folder / "libraddle_codegen.so");
  CHECK(!ask(compiler, program, program.scaled).get());
}

}  // namespace raddle::codegen
