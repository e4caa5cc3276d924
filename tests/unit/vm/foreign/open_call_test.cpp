#include "vm/foreign/open_call.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

namespace raddle::vm {

TEST_CASE("calls that leave by exit are errors, on each thread its own") {
  watch_exits();
  ForeignFunction function;
  function.name = "f";
  const auto count_wrong = [&function](int thread) {
    int wrong = 0;
    for (int i = 0; i < 200; ++i) {
      const KnownFunction known(function);
      const std::string error = call_that_may_leave(function, [&]() -> std::string {
        if (i % 4 == 0) std::exit(thread);
        if (i % 4 == 1) _exit(i);
        if (i % 4 == 2) pthread_exit(nullptr);
        return "its own";
      });
      const std::string called = i % 4 == 0   ? "exit(" + std::to_string(thread) + ")"
                                 : i % 4 == 1 ? "_exit(" + std::to_string(i) + ")"
                                              : "pthread_exit";
      wrong += error != (i % 4 == 3 ? "its own" : "`f` has called `" + called + "`, which would end the run") ? 1 : 0;
      wrong += OpenCall::of_thread() != nullptr ? 1 : 0;
    }
    return wrong;
  };
  std::vector<int> wrong(8);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread)
      threads.emplace_back([&, thread] { wrong[static_cast<std::size_t>(thread)] = count_wrong(thread); });
  }
  CHECK(wrong == std::vector<int>(8));
}

TEST_CASE("the innermost call is whose code runs") {
  ForeignFunction outer, inner;
  outer.name = "outer";
  inner.name = "inner";
  CHECK(OpenCall::of_thread() == nullptr);
  const OpenCall around(outer);
  {
    const OpenCall within(inner);
    const auto running = running_code();
    REQUIRE(running);
    CHECK(running->function->name == "inner");
    CHECK(running->is_certain);
  }
  CHECK(running_code()->function->name == "outer");
}

}  // namespace raddle::vm
