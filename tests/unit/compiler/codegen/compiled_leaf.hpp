#pragma once
// Machine code of one leaf, called by a test.
#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/load_plugin.hpp"
#include "compiler/codegen/loaded_leaf.hpp"
#include "tests/unit/compiler/codegen/leaf_builder.hpp"
#include "vm/schedule/stack_limit.hpp"

namespace raddle::codegen {

inline std::int64_t bits(double value) { return std::bit_cast<std::int64_t>(value); }
inline double number(std::int64_t bits) { return std::bit_cast<double>(bits); }

struct Outcome {
  std::int32_t status = -1;
  std::int64_t results[2] = {};
  raddle_leaf_failure failure = {};
  std::int64_t value() const { return results[0]; }
  double real() const { return number(results[0]); }
};

/// Stands in for a worker of the VM. If told so it shares all calls that are forked, and makes them when they are
/// joined.
struct TestWorker : raddle_leaf_worker {
  explicit TestWorker(bool shares = false) : raddle_leaf_worker{}, is_sharing(shares) {
    stack_limit = vm::stack_limit();
    idle_workers = &is_sharing;
    newest = &first;
    share = [](raddle_leaf_worker* worker) {
      auto* self = static_cast<TestWorker*>(worker);
      for (raddle_leaf_fork* fork = self->newest; fork != &self->first && !fork->task; fork = fork->older) {
        fork->task = self;
        ++self->shared;
      }
    };
    join = [](raddle_leaf_worker* worker, raddle_leaf_fork* fork, raddle_leaf_failure* failure) {
      auto* self = static_cast<TestWorker*>(worker);
      CHECK(self->newest == fork);
      self->newest = fork->older;
      self->abandoned += failure == nullptr;
      auto* words = reinterpret_cast<std::int64_t*>(fork + 1);
      return failure ? fork->site->code(worker, words, words + fork->site->argument_words, failure) : -1;
    };
  }
  TestWorker(const TestWorker&) = delete;
  TestWorker& operator=(const TestWorker&) = delete;

  std::int32_t is_sharing;
  raddle_leaf_fork first{};
  int shared = 0, abandoned = 0;
};

/// Machine code for one leaf, called with words.
class Compiled {
 public:
  Compiled(const TestModule& test, const LeafBuilder& leaf) {
    const auto image = Plugin(RADDLE_PLUGIN).compile(request_of(test, leaf.id()));
    if (!image) {
      refusal = image.error();
      return;
    }
    auto loaded = LoadedLeaf::load(*image);
    REQUIRE_MESSAGE(loaded.has_value(), loaded.error());
    code_.emplace(std::move(*loaded));
  }
  Outcome operator()(std::vector<std::int64_t> arguments) const {
    TestWorker worker;
    return call(worker, std::move(arguments));
  }
  Outcome call(TestWorker& worker, std::vector<std::int64_t> arguments) const {
    REQUIRE_MESSAGE(code_.has_value(), refusal);
    Outcome outcome;
    outcome.status = code_->code()(&worker, arguments.data(), outcome.results, &outcome.failure);
    return outcome;
  }
  std::string refusal;

 private:
  std::optional<LoadedLeaf> code_;
};

}  // namespace raddle::codegen
