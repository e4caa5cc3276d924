#include "vm/kernel/lane_code.hpp"

#include <algorithm>

#include "vm/kernel/lane_operations.hpp"

namespace raddle::vm {

namespace {

/// Of 256 points, 2 KiB each, with those of kernels that are called: what a second-level cache holds.
constexpr std::uint32_t most_registers = 256;
constexpr std::uint32_t mathematics_cost = 4, iterations = 8;

class Planner {
 public:
  explicit Planner(std::span<const Kernel> kernels)
      : kernels_(kernels), states_(kernels.size()), codes_(kernels.size()) {}

  std::vector<LaneCode> run() {
    for (KernelId id = 0; id < kernels_.size(); ++id) static_cast<void>(plan(id));
    return std::move(codes_);
  }

 private:
  enum class State : std::uint8_t { unknown, open, done };

  /// @return not there: it calls itself
  const LaneCode& plan(KernelId id) {
    static const LaneCode absent;
    if (states_[id] == State::open) return absent;
    if (states_[id] == State::done) return codes_[id];
    states_[id] = State::open;
    LaneCode made = make(kernels_[id]);
    states_[id] = State::done;
    return codes_[id] = std::move(made);
  }

  LaneCode make(const Kernel& kernel) {
    if (!kernel.exists() || !kernel.foreign_calls.empty() || !kernel.reductions.empty() || kernel.has_own_arrays())
      return {};
    LaneCode code;
    std::uint32_t most_called = 0;
    for (const KernelCall& call : kernel.calls) {
      const LaneCode& callee = plan(call.kernel);
      if (!callee.exists()) return {};
      most_called = std::max(most_called, callee.frame_count);
    }
    for (const KernelLoop& loop : kernel.loops)
      code.most_variables = std::max(code.most_variables, static_cast<std::uint32_t>(loop.variables.size()));
    code.register_count = static_cast<std::uint32_t>(kernel.types.size()) + code.most_variables + 1;
    code.frame_count = code.register_count + most_called;
    if (code.frame_count > most_registers) return {};
    find_joined(kernel, code.is_joined);
    code.cost = static_cast<std::uint32_t>(cost(kernel, 0));
    return code;
  }

  static void find_joined(const Kernel& kernel, std::vector<std::uint8_t>& is_joined) {
    std::vector<std::uint8_t> count(kernel.types.size());
    const auto assign = [&](KernelRegister id) {
      if (id != no_kernel_part) count[id] = static_cast<std::uint8_t>(std::min(count[id] + 1, 2));
    };
    for (const std::vector<KernelInstruction>& block : kernel.blocks)
      for (const KernelInstruction& instruction : block) assign(instruction.result);
    for (const KernelCall& call : kernel.calls) std::ranges::for_each(call.results, assign);
    for (const std::uint8_t times : count) is_joined.push_back(times > 1);
  }

  std::uint64_t cost(const Kernel& kernel, KernelBlockId block) const {
    std::uint64_t all = 1;
    for (const KernelInstruction& in : kernel.blocks[block]) {
      if (in.op == KernelOp::if_) {
        const KernelBranch& branch = kernel.branches[in.index];
        all += cost(kernel, branch.then_block);
        if (branch.else_block != no_kernel_part) all += cost(kernel, branch.else_block);
      } else if (in.op == KernelOp::loop) {
        const KernelLoop& loop = kernel.loops[in.index];
        all += iterations * (cost(kernel, loop.test_block) + cost(kernel, loop.body_block));
      } else if (in.op == KernelOp::call) {
        all += codes_[kernel.calls[in.index].kernel].cost;
      } else {
        all += is_mathematics(in.op) ? mathematics_cost : 1;
      }
    }
    constexpr std::uint64_t most_cost = 1U << 30;
    return std::min(all, most_cost);
  }

  const std::span<const Kernel> kernels_;
  std::vector<State> states_;
  std::vector<LaneCode> codes_;
};

}  // namespace

std::vector<LaneCode> plan_lanes(std::span<const Kernel> kernels) { return Planner(kernels).run(); }

}  // namespace raddle::vm
