#include "vm/interpret/loop_runner.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/kernel_caller.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/schedule/leaf_forks.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t most_at_once = 4096;  ///< iterations
constexpr std::int64_t call_ns = 500'000;    ///< a call that takes longer is not made longer
constexpr std::int64_t turn_ns = 2'000'000;  ///< then others have their turn
constexpr std::uint32_t most_skipped = 256;  ///< iterations, after some that did not end well
constexpr std::int64_t no_key = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t history_room = 64;  ///< elements

/// What it takes and gives has room on the stack: of each sink at most four words and what is there of its history.
bool fits(const LoopSite& site) {
  if (std::ranges::any_of(site.kernel.sinks, [](const LoopSink& sink) { return sink.history > history_room; }))
    return false;
  const std::size_t of_sinks = 5 * site.kernel.sinks.size(), of_captures = 2 * site.kernel.captures.size();
  return 1 + of_sinks + site.initial.size() + of_captures <= leaf_word_limit;
}

}  // namespace

bool LoopRunner::has_kernel(const LoopSite& site) const {
  return site.kernel.exists() && fits(site) && run_.leaves.stage(site.kernel.leaf) != LeafTable::Stage::impossible;
}

// ---------------------------------------------------------------- inputs

Future* LoopRunner::awaited_input(Frame& frame, const LoopSite& site) {
  const std::vector<KernelType>& types = program_.functions[site.kernel.leaf].leaf_parameters;
  for (const Operand initial : site.initial)
    if (Future& value = frame.at(initial); !value.is_resolved()) return &value;
  for (std::size_t i = 0; i < site.kernel.captures.size(); ++i)
    if (Future* const missing = missing_part(frame.at(site.kernel.captures[i]), types[1 + site.initial.size() + i]))
      return missing;
  for (const LoopSink& sink : site.kernel.sinks)
    if (Future& array = frame.at(sink.array); !array.is_resolved()) return &array;
  return nullptr;
}

/// @pre nothing is missing
bool LoopRunner::encode_inputs(Frame& frame, const LoopSite& site, const std::vector<Value>& values) {
  const LoopKernelSite& kernel = site.kernel;
  const std::vector<KernelType>& types = program_.functions[kernel.leaf].leaf_parameters;
  words_.resize(values.size() + 2 * kernel.captures.size());
  variable_count_ = values.size();
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].kind() != kind_of(types[1 + i])) return false;
    words_[count++] = word_of(values[i]);
  }
  for (std::size_t i = 0; i < kernel.captures.size(); ++i) {
    const Future& capture = frame.at(kernel.captures[i]);
    const KernelType type = types[1 + values.size() + i];
    if (!encode(capture, type, words_.data(), count)) return false;
    if (BoundedMemory::get() && is_array(type)) object_in<Array>(capture).use_packed();
  }
  words_.resize(count);
  return std::ranges::all_of(kernel.sinks,
                             [&](const LoopSink& sink) { return frame.at(sink.array).kind() == ValueKind::array; });
}

ValueKind LoopRunner::kind_of_sink(const LoopKernelSite& kernel, std::size_t sink) const {
  return kind_of(program_.kernels[kernel.leaf].types[2 + 2 * sink]);
}

// ---------------------------------------------------------------- calls

bool LoopRunner::run(Frame& frame, const LoopSite& site, std::vector<Value>& values) {
  const LoopKernelSite& kernel = site.kernel;
  if (!has_kernel(site) || frame.interpret_only || run_.is_stopped()) return false;
  const raddle_leaf_function code = run_.leaves.code(kernel.leaf);
  if (!code) {
    here_.kernels().count_calls(kernel.leaf, 1);
    return false;
  }
  Pace& pace = paces_[static_cast<std::size_t>(&site - program_.loops.data())];
  if (pace.to_skip != 0) return --pace.to_skip, false;
  if (worker_->perturbation().one_in(8) || awaited_input(frame, site)) return false;
  if (!encode_inputs(frame, site, values)) return false;
  const std::int64_t start_ns = now_ns();
  // one of so many iterations does not end well; none: of none it is known
  std::optional<std::int64_t> bad_one_within;
  while (!run_.is_stopped()) {
    std::int64_t most = bad_one_within ? *bad_one_within / 2 : pace.most;
    if (is_perturbed_ && !bad_one_within) most = 1 + most / 3;
    if (most == 0) break;
    const std::int64_t call_start_ns = now_ns();
    const std::optional<std::int64_t> done = call(frame, site, code, most, values);
    const std::int64_t end_ns = now_ns();
    if (!done) {
      bad_one_within = most;
      continue;
    }
    if (*done != 0) pace.skipped_before = 0;
    if (*done < most) return false;  // the loop ends
    if (bad_one_within) *bad_one_within -= most;
    if (end_ns - start_ns > turn_ns) return true;
    if (!bad_one_within && end_ns - call_start_ns < call_ns) pace.most = std::min(2 * most, most_at_once);
  }
  pace.most = std::max<std::int64_t>(1, pace.most / 4);
  pace.to_skip = pace.skipped_before;
  pace.skipped_before = std::min(2 * pace.skipped_before + 1, most_skipped);
  return false;
}

std::optional<std::int64_t> LoopRunner::call(Frame& frame, const LoopSite& site, raddle_leaf_function code,
                                             std::int64_t most, std::vector<Value>& values) {
  const LoopKernelSite& kernel = site.kernel;
  row_words_ = static_cast<std::size_t>(most + history_room);
  rows_.resize(std::max(rows_.size(), 2 * kernel.sinks.size() * row_words_));
  std::vector<std::int64_t> there(kernel.sinks.size(), 0);
  const bool has_history = std::ranges::any_of(kernel.sinks, [](const LoopSink& sink) { return sink.history != 0; });
  if (has_history) {
    if (!run_kernel(kernel, code, 0, there)) return std::nullopt;
    find_history(frame, kernel, there);
  }
  clear_keys(kernel, most);
  if (!run_kernel(kernel, code, most, there)) return std::nullopt;
  const std::int64_t count = results_[variable_count_];
  const std::vector<KernelType>& types = program_.functions[kernel.leaf].leaf_parameters;
  for (std::size_t i = 0; i < variable_count_; ++i) {
    words_[i] = results_[i];
    values[i] = decode(results_[i], kind_of(types[1 + i]));
  }
  insert_all(frame, kernel, there, count);
  here_.counters.loop_iterations_native += static_cast<std::uint64_t>(count);
  return count;
}

/// @return false: it does not end well, and results_ mean nothing
bool LoopRunner::run_kernel(const LoopKernelSite& kernel, raddle_leaf_function code, std::int64_t most,
                            const std::vector<std::int64_t>& there) {
  std::array<std::int64_t, leaf_word_limit> words;
  std::size_t count = 0;
  words[count++] = most;
  for (std::size_t i = 0; i < kernel.sinks.size(); ++i) {
    words[count++] = reinterpret_cast<std::int64_t>(keys_of(i));
    words[count++] = most;
    words[count++] = reinterpret_cast<std::int64_t>(values_of(i));
    words[count++] = most + there[i];
  }
  std::ranges::copy(words_, words.data() + count);
  count += words_.size();
  for (std::size_t i = 0; i < kernel.sinks.size(); ++i)
    if (kernel.sinks[i].history != 0) words[count++] = there[i];
  results_.resize(leaf_word_limit);
  raddle_leaf_failure failure;
  failure.call_count = 0;
  ++here_.counters.leaf_calls_native;
  return code(&worker_->leaf_worker(), words.data(), results_.data(), &failure) == raddle_leaf_ok;
}

/// Puts what is there of it before what the iterations will insert. @pre the kernel has told the first keys
void LoopRunner::find_history(Frame& frame, const LoopKernelSite& kernel, std::vector<std::int64_t>& there) {
  std::size_t result = variable_count_ + 1;
  for (std::size_t i = 0; i < kernel.sinks.size(); ++i) {
    const LoopSink& sink = kernel.sinks[i];
    if (sink.history == 0) continue;
    const std::int64_t first = results_[result++];
    const ValueKind kind = kind_of_sink(kernel, i);
    const Array& array = object_in<Array>(frame.at(sink.array));
    std::array<std::int64_t, history_room> found;  // the nearest one first
    std::int64_t count = 0, key = first;
    while (count < sink.history && !__builtin_sub_overflow(key, sink.stride, &key) &&
           array.find_number(key, kind, found[static_cast<std::size_t>(count)]))
      ++count;
    for (std::int64_t back = 1; back <= count; ++back)
      set_number(values_of(i), kind, static_cast<std::size_t>(count - back), found[static_cast<std::size_t>(back - 1)]);
    there[i] = count;
  }
}

void LoopRunner::clear_keys(const LoopKernelSite& kernel, std::int64_t most) {
  for (std::size_t i = 0; i < kernel.sinks.size(); ++i)
    if (kernel.sinks[i].is_sometimes) std::fill_n(keys_of(i), most, no_key);
}

// ---------------------------------------------------------------- what has been inserted

void LoopRunner::insert_all(Frame& frame, const LoopKernelSite& kernel, const std::vector<std::int64_t>& there,
                            std::int64_t count) {
  for (std::size_t first = 0; first < kernel.sinks.size(); ++first) {
    const Operand target = kernel.sinks[first].array;
    const auto is_it = [&](const LoopSink& sink) { return sink.array == target; };
    if (std::any_of(kernel.sinks.begin(), kernel.sinks.begin() + static_cast<std::ptrdiff_t>(first), is_it)) continue;
    Array& array = object_in<Array>(frame.at(target));
    const ValueKind kind = kind_of_sink(kernel, first);
    inserted_.clear();
    left_.clear();
    for (std::size_t sink = first; sink < kernel.sinks.size(); ++sink) {
      if (!is_it(kernel.sinks[sink])) continue;
      const NumberRun values = NumberRun{kind, values_of(sink), there[sink] + count}.part(there[sink], count);
      if (is_run(keys_of(sink), count))
        insert_run(array, keys_of(sink)[0], values, sink);
      else
        collect(values, sink);
    }
    insert_as_run(array, kind);
    for (const Inserted& each : left_)
      insert_one(frame, kernel.sinks[each.sink], array, each.key, decode(each.bits, kind));
  }
}

/// Keys that follow each other.
bool LoopRunner::is_run(const std::int64_t* keys, std::int64_t count) {
  if (count == 0 || keys[0] < 0 || keys[0] > std::numeric_limits<std::int64_t>::max() - count) return false;
  bool follows = true;
  for (std::int64_t i = 1; i < count; ++i) follows &= keys[i] == keys[0] + i;
  return follows;
}

void LoopRunner::insert_run(Array& array, std::int64_t first, const NumberRun& numbers, std::size_t sink) {
  left_keys_.clear();
  array.insert_run(first, numbers, left_keys_, here_.wakes());
  here_.wake();
  for (const std::int64_t key : left_keys_)
    left_.push_back({key, static_cast<std::int64_t>(numbers.bits(key - first)), sink});
}

void LoopRunner::collect(const NumberRun& values, std::size_t sink) {
  const std::int64_t* const keys = keys_of(sink);
  for (std::int64_t i = 0; i < values.count; ++i)
    if (keys[i] != no_key) inserted_.push_back({keys[i], static_cast<std::int64_t>(values.bits(i)), sink});
}

/// If what has been collected has all keys between the least and the greatest one. Else it is left.
void LoopRunner::insert_as_run(Array& array, ValueKind kind) {
  if (inserted_.empty()) return;
  const auto [least, greatest] = std::ranges::minmax_element(inserted_, {}, &Inserted::key);
  const std::int64_t low = least->key;
  const std::uint64_t distance = static_cast<std::uint64_t>(greatest->key) - static_cast<std::uint64_t>(low);
  bool is_run = low >= 0 && distance == inserted_.size() - 1;
  sorted_.resize(inserted_.size());
  sinks_.assign(inserted_.size(), no_id);
  for (std::size_t i = 0; i < inserted_.size() && is_run; ++i) {
    const Inserted& each = inserted_[i];
    const auto at = static_cast<std::size_t>(each.key - low);
    is_run = sinks_[at] == no_id;
    sinks_[at] = static_cast<std::uint32_t>(each.sink);
    set_number(sorted_.data(), kind, at, each.bits);
  }
  if (!is_run) {
    left_.insert(left_.end(), inserted_.begin(), inserted_.end());
    return;
  }
  const std::size_t before = left_.size();
  insert_run(array, low, {kind, sorted_.data(), static_cast<std::int64_t>(inserted_.size())}, 0);
  for (std::size_t i = before; i < left_.size(); ++i)
    left_[i].sink = sinks_[static_cast<std::size_t>(left_[i].key - low)];
}

void LoopRunner::insert_one(Frame& frame, const LoopSink& sink, Array& array, std::int64_t key, Value value) {
  if (!here_.insert(array, Value::of(key), std::move(value)))
    here_.element_assigned_twice(frame, sink.place, array, Value::of(key));
}

// ---------------------------------------------------------------- loops that wait

void LoopStart::resolved(Worker& worker) {
  RunWorker& here = frame_.run_state.on(worker);
  awaits_input = false;
  if (!is_replaced) return here.push(*this, frame_.priority);
  Frame* frame = &frame_;
  here.destroy(this);
  here.release(frame);
}

DeferredCall* LoopStart::replacement(CellCache& cache) {
  frame_.retain();
  return ::new (cache.allocate(sizeof(LoopStart))) LoopStart(frame_, in_);
}

void LoopStart::run(Worker& worker) {
  Frame* frame = &frame_;
  RunWorker& here = frame->run_state.on(worker);
  here.interpreter().start_loop(*frame, in_, is_forced);
  here.destroy(this);
  here.release(frame);
}

}  // namespace raddle::vm
