#include "vm/kernel/lane_machine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <utility>

#include "vm/kernel/leaf_arguments.hpp"
#include "vm/math/lane_functions.hpp"

namespace raddle::vm {

namespace {

constexpr unsigned rounds_of_patience = 64;  ///< of 256 lanes: some ten microseconds

static_assert(LaneMachine::most_points == lanes_of_register);

/// Of lanes a boolean is a mask.
LaneWord lane_word(KernelType type, std::int64_t word) {
  return type == KernelType::boolean ? (word != 0 ? -1 : 0) : word;
}

/// Of an operation that is a function of vm/math; the two of `pow` are that one, too.
math::LaneFunctionId mathematics_of(KernelOp op) {
  switch (op) {
#define RADDLE_MATH_FUNCTION(name, count) \
  case KernelOp::name:                    \
    return math::LaneFunctionId::name;
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#define RADDLE_MATH_FUNCTION(name, count) \
  case KernelOp::name##_32:               \
    return math::LaneFunctionId::name##_32;
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION
    case KernelOp::pow_float_32: return math::LaneFunctionId::pow_32;
    default: return math::LaneFunctionId::pow;
  }
}

}  // namespace

LaneMachine::Lanes LaneMachine::make_lanes(std::size_t registers) {
  const std::size_t size_bytes = registers * lanes_of_register * sizeof(LaneWord);
  return Lanes(static_cast<LaneWord*>(::operator new[](size_bytes, std::align_val_t{64})));
}

LaneWord* LaneMachine::mask(std::size_t depth) {
  while (masks_.size() <= depth) masks_.push_back(make_lanes(1));
  return masks_[depth].get();
}

void LaneMachine::prepare(FunctionId kernel, std::span<const std::int64_t> arguments) {
  kernel_ = kernel;
  const Kernel& source = program_.kernels[kernel];
  const LaneCode& code = program_.functions[kernel].lane_code;
  if (register_count_ < code.frame_count) {
    register_count_ = code.frame_count;
    registers_ = make_lanes(register_count_);
    strides_.resize(register_count_);
    arrays_.resize(register_count_);
  }
  std::size_t word = words_of(source.types[0]);
  for (KernelRegister id = 1; id < source.parameter_count; ++id) {
    const KernelType type = source.types[id];
    if (is_array(type)) {
      arrays_[id] = {arguments[word], arguments[word + 1]};
    } else {
      std::fill_n(registers_.get() + id * lanes_of_register, lanes_of_vector, lane_word(type, arguments[word]));
      strides_[id] = 0;
    }
    word += words_of(type);
  }
  set_constants({source, code, 0});
}

void LaneMachine::set_constants(const Activation& now) {
  for (std::size_t i = 0; i < now.kernel.constants.size(); ++i) {
    const auto id = static_cast<KernelRegister>(now.kernel.parameter_count + i);
    std::fill_n(registers_.get() + (now.base + id) * lanes_of_register, lanes_of_vector,
                lane_word(now.kernel.types[id], now.kernel.constants[i]));
    strides_[now.base + id] = 0;
  }
}

/// @param view  whose vectors and active lanes are taken
LaneView LaneMachine::view_of(const Activation& now, const LaneView& view) {
  LaneView made = view;
  made.registers = registers_.get() + now.base * lanes_of_register;
  made.strides = strides_.data() + now.base;
  made.arrays = arrays_.data() + now.base;
  made.is_joined = now.code.is_joined.data();
  made.scratch = now.code.register_count - 1;
  return made;
}

LaneMachine::Outcome LaneMachine::run(std::int64_t first, std::int64_t step, std::int64_t count,
                                      std::span<void* const> results, const std::function<bool()>& goes_on) {
  const Activation outermost{program_.kernels[kernel_], program_.functions[kernel_].lane_code, 0};
  // what fills up the last vector is the last point once more: it ends as well as that one
  const std::size_t vectors = (static_cast<std::size_t>(count) + lanes_of_vector - 1) / lanes_of_vector;
  for (std::size_t i = 0; i < vectors * lanes_of_vector; ++i)
    registers_[i] = first + std::min(static_cast<std::int64_t>(i), count - 1) * step;
  strides_[0] = 1;
  goes_on_ = &goes_on;
  patience_ = rounds_of_patience;
  is_stopped_ = false;
  mask_depth_ = 0;
  const LaneView view = view_of(outermost, {nullptr, nullptr, nullptr, nullptr, 0, 0, vectors, nullptr});
  if (!block(outermost, 0, view)) return is_stopped_ ? Outcome::stopped : Outcome::failed;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const KernelRegister output = outermost.kernel.outputs[i];
    if (strides_[output] == 0) operations_.spread_lanes(view, output);
    const LaneWord* const from = view.lanes(output);
    const ValueKind kind = kind_of(outermost.kernel.types[output]);
    for (std::int64_t lane = 0; lane < count; ++lane)  // a loop for each kind, once it is compiled
      set_number(results[i], kind, static_cast<std::size_t>(lane), from[lane]);
  }
  return Outcome::done;
}

/// @return false: some lane does not end well, or all are to stop
bool LaneMachine::block(const Activation& now, KernelBlockId id, const LaneView& view) {
  const std::vector<KernelInstruction>& instructions = now.kernel.blocks[id];
  const KernelInstruction* next = instructions.data();
  const KernelInstruction* const end = next + instructions.size();
  while ((next = operations_.run_operations(next, end, view)) != end) {
    if (next == nullptr) return false;
    if (!(is_control(next->op) ? control(now, *next, view) : mathematics(*next, view))) return false;
    ++next;
  }
  return true;
}

bool LaneMachine::control(const Activation& now, const KernelInstruction& in, const LaneView& view) {
  switch (in.op) {
    case KernelOp::if_: return branch(now, in, view);
    case KernelOp::loop: return loop(now, now.kernel.loops[in.index], view);
    default: return call(now, now.kernel.calls[in.index], view);  // reduce, foreign: they have no lane code
  }
}

bool LaneMachine::mathematics(const KernelInstruction& in, const LaneView& view) {
  const std::size_t input_count = info(in.op).inputs.size();
  std::array<const LaneWord*, 2> inputs{};
  bool is_varying = false;
  for (std::size_t i = 0; i < input_count; ++i) is_varying |= view.strides[in.inputs[i]] != 0;
  LaneView part = view;
  if (!is_varying) {
    part.begin = 0;
    part.end = 1;
    part.active = nullptr;
  }
  alignas(64) std::array<std::array<LaneWord, lanes_of_register>, 2> made;
  for (std::size_t i = 0; i < input_count; ++i) {
    const KernelRegister id = in.inputs[i];
    inputs[i] = view.lanes(id);
    if (in.op == KernelOp::pow_int) {
      for (std::size_t lane = 0; lane < lanes_of_register; ++lane)
        made[i][lane] = std::bit_cast<LaneWord>(
            static_cast<double>(inputs[i][view.strides[id] != 0 ? lane : lane % lanes_of_vector]));
      inputs[i] = made[i].data();
    } else if (is_varying && view.strides[id] == 0) {
      operations_.copy_lanes(part, inputs[i], 0, made[i].data());
      inputs[i] = made[i].data();
    }
  }
  if (input_count == 1) inputs[1] = inputs[0];
  const bool joins = view.active != nullptr && view.is_joined[in.result] != 0;
  const KernelRegister to = joins ? view.scratch : in.result;
  const std::size_t at = part.begin * lanes_of_vector;
  const auto reals = [&](const LaneWord* lanes) { return reinterpret_cast<const double*>(lanes + at); };
  const math::LaneFunction& function = mathematics_[static_cast<std::size_t>(mathematics_of(in.op))];
  function.compute(reals(inputs[0]), reals(inputs[1]), reinterpret_cast<double*>(view.lanes(to) + at),
                   (part.end - part.begin) * lanes_of_vector);
  if (info(in.op).failure == KernelFailure::domain &&
      operations_.has_new_nan(part, inputs[0], inputs[1], view.lanes(to)))
    return false;
  view.strides[to] = is_varying ? 1 : 0;
  if (joins) operations_.join_lanes(view, to, in.result);
  return true;
}

bool LaneMachine::branch(const Activation& now, const KernelInstruction& in, const LaneView& view) {
  const KernelBranch& branch = now.kernel.branches[in.index];
  const auto otherwise = [&](const LaneView& arm) {
    return branch.else_block == no_kernel_part || block(now, branch.else_block, arm);
  };
  const KernelRegister condition = in.inputs[0];
  if (view.strides[condition] == 0)
    return view.lanes(condition)[0] != 0 ? block(now, branch.then_block, view) : otherwise(view);
  LaneWord* const yes = mask(mask_depth_);
  LaneWord* const no = mask(mask_depth_ + 1);
  const LaneSplit split = operations_.split_lanes(view, view.lanes(condition), yes, no);
  if (!split.has_no()) return block(now, branch.then_block, view);
  if (!split.has_yes()) return otherwise(view);
  mask_depth_ += 2;
  LaneView arm = view;
  arm.active = yes;
  arm.begin = split.yes_begin;
  arm.end = split.yes_end;
  bool is_well = block(now, branch.then_block, arm);
  arm.active = no;
  arm.begin = split.no_begin;
  arm.end = split.no_end;
  is_well = is_well && otherwise(arm);
  mask_depth_ -= 2;
  return is_well;
}

bool LaneMachine::loop(const Activation& now, const KernelLoop& loop, const LaneView& view) {
  take_over(now, loop.initial, loop.variables, view, /*joins=*/false);
  LaneWord* const live = mask(mask_depth_);
  LaneWord* const left = mask(mask_depth_ + 1);
  mask_depth_ += 2;
  LaneView inside = view;
  bool is_well = true;
  for (;;) {
    is_well = block(now, loop.test_block, inside) && (!loop.test_after || block(now, loop.body_block, inside));
    if (!is_well) break;
    if (view.strides[loop.condition] == 0) {
      if ((view.lanes(loop.condition)[0] != 0) == loop.test_after) break;
    } else {
      LaneWord* const yes = loop.test_after ? left : live;
      LaneWord* const no = loop.test_after ? live : left;
      LaneSplit split = operations_.split_lanes(inside, view.lanes(loop.condition), yes, no);
      if (loop.test_after) {
        std::swap(split.yes_begin, split.no_begin);
        std::swap(split.yes_end, split.no_end);
      }
      if (!split.has_yes()) break;
      if (split.has_no()) {
        inside.active = live;
        inside.begin = split.yes_begin;
        inside.end = split.yes_end;
      }
    }
    if (--patience_ == 0) {
      patience_ = rounds_of_patience;
      is_stopped_ = !(*goes_on_)();
      if ((is_well = !is_stopped_) == false) break;
    }
    is_well = loop.test_after || block(now, loop.body_block, inside);
    if (!is_well) break;
    take_over(now, loop.next, loop.variables, inside, /*joins=*/true);
  }
  mask_depth_ -= 2;
  return is_well;
}

/// Variables of a loop take these values, all at once. @param joins  lanes that are not active keep theirs
void LaneMachine::take_over(const Activation& now, const std::vector<KernelRegister>& from,
                            const std::vector<KernelRegister>& to, const LaneView& view, bool joins) {
  const auto first_saved = static_cast<KernelRegister>(now.kernel.types.size());
  const auto is_changed_before = [&](std::size_t i) {
    return std::find(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(i), from[i]) !=
           to.begin() + static_cast<std::ptrdiff_t>(i);
  };
  KernelScalars::Array* const arrays = arrays_.data() + now.base;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!is_changed_before(i)) continue;
    const auto saved = static_cast<KernelRegister>(first_saved + i);
    operations_.copy_lanes(view, view.lanes(from[i]), view.strides[from[i]], view.lanes(saved));
    view.strides[saved] = 1;
    arrays[saved] = arrays[from[i]];
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    const KernelRegister source = is_changed_before(i) ? static_cast<KernelRegister>(first_saved + i) : from[i];
    if (is_array(now.kernel.types[to[i]])) {
      arrays[to[i]] = arrays[source];
    } else if (joins && view.active != nullptr) {
      if (source != to[i]) operations_.join_lanes(view, source, to[i]);
    } else {
      if (source != to[i]) operations_.copy_lanes(view, view.lanes(source), view.strides[source], view.lanes(to[i]));
      view.strides[to[i]] = 1;
    }
  }
}

bool LaneMachine::call(const Activation& now, const KernelCall& call, const LaneView& view) {
  const Activation callee{program_.kernels[call.kernel], program_.functions[call.kernel].lane_code,
                          now.base + now.code.register_count};
  const LaneView inside = view_of(callee, view);
  for (KernelRegister parameter = 0; parameter < callee.kernel.parameter_count; ++parameter) {
    const KernelRegister argument = call.inputs[parameter];
    if (is_array(callee.kernel.types[parameter])) {
      arrays_[callee.base + parameter] = view.arrays[argument];
      continue;
    }
    inside.strides[parameter] = view.strides[argument];
    LaneView part = view;
    if (view.strides[argument] == 0) {
      part.begin = 0;
      part.end = 1;
    }
    operations_.copy_lanes(part, view.lanes(argument), 1, inside.lanes(parameter));
  }
  set_constants(callee);
  if (!block(callee, 0, inside)) return false;
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    const KernelRegister output = callee.kernel.outputs[i], result = call.results[i];
    const bool joins = view.active != nullptr && view.is_joined[result] != 0;
    const KernelRegister to = joins ? view.scratch : result;
    const bool is_varying = inside.strides[output] != 0;
    LaneView part = view;
    if (!is_varying) {
      part.begin = 0;
      part.end = 1;
    }
    operations_.copy_lanes(part, inside.lanes(output), 1, view.lanes(to));
    view.strides[to] = is_varying ? 1 : 0;
    if (joins) operations_.join_lanes(view, to, result);
  }
  return true;
}

}  // namespace raddle::vm
