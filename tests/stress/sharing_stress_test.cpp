// While a worker is idle, calls that are interpreted become tasks.
#include <doctest/doctest.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "tests/unit/vm/interpret/assembler.hpp"

namespace raddle::vm {

using test::Assembler;
using test::slot;

namespace {

/// Who calls waits for as many threads as there are workers: he who runs the script itself only for a moment, as he is
/// the one who has to share the next call.
struct Visits {
  std::size_t expected = 0;
  std::mutex mutex;
  std::thread::id host;
  std::set<std::thread::id> visitors;  // all that have run a call, and the host

  bool all_have_come() {
    const std::lock_guard lock(mutex);
    return visitors.size() == expected;
  }
  void open() {
    host = std::this_thread::get_id();
    visitors.insert(host);
  }
  void visit() {
    const std::chrono::milliseconds patience(std::this_thread::get_id() == host ? 5 : 30'000);
    const auto end = std::chrono::steady_clock::now() + patience;
    {
      const std::lock_guard lock(mutex);
      visitors.insert(std::this_thread::get_id());
    }
    while (!all_have_come() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }
};

template <void (Visits::*step)()>
std::expected<void, std::string> builtin(const BuiltinCall&, std::span<const Value> arguments, std::span<Value>) {
  (reinterpret_cast<Visits*>(arguments[0].as_int())->*step)();
  return {};
}

/// Opens, then calls a function of the script that visits, again and again.
Program visiting(Visits& visits, int calls) {
  Assembler a;
  const BodyId main = a.body(0, {"x"});
  a.function("main", main, 0);
  const BodyId visitor = a.body(1, {"n"});
  const FunctionId visit = a.function("visit", visitor, 1);
  const Operand address = a.constant(Value::of(reinterpret_cast<std::int64_t>(&visits)));
  a.program.builtins.push_back({"open", builtin<&Visits::open>, 0, {address}, {}, {}});
  a.program.builtins.push_back({"visit", builtin<&Visits::visit>, 0, {address}, {}, {}});
  a.program.bodies[visitor].region = a.region(visitor, {{{}, {Assembler::op(Opcode::call_builtin, {}, {}, {}, 1)}}});
  test::StrandText strand{{}, {Assembler::op(Opcode::call_builtin, {}, {}, {}, 0)}};
  for (int i = 0; i < calls; ++i) strand.code.push_back(a.call(visit, {a.constant(i)}, {}));
  a.program.bodies[main].region = a.region(main, {strand});
  return std::move(a.program);
}

}  // namespace

TEST_CASE("while workers are idle, calls become tasks, until each worker has one") {
  for (const PoolOptions& pool : schedulers) {
    for (const unsigned workers : {2u, 8u}) {
      Visits visits;
      visits.expected = workers;
      RunOptions options;
      options.workers = workers;
      options.scheduler = pool.scheduler;
      options.queue_order = pool.order;
      CHECK(run(visiting(visits, 1000), options).status == RunStatus::ok);
      CHECK(visits.visitors.size() == workers);
    }
  }
}

}  // namespace raddle::vm
