// Calls of `@memo` functions: results that are kept are taken, others computed and kept.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "vm/calls/files_in.hpp"
#include "vm/calls/kept_value.hpp"
#include "vm/calls/memo_caller.hpp"
#include "vm/calls/memo_calls.hpp"
#include "vm/calls/program_caller.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_listener.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/record/file_claim.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/failure.hpp"
#include "vm/value/file_place.hpp"
#include "vm/value/hash.hpp"

namespace raddle::vm {

namespace {

std::string bytes_of(const PointKey& key) { return {reinterpret_cast<const char*>(&key), sizeof key}; }

PointKey key_of(const std::string& bytes) {
  PointKey key;
  std::memcpy(&key, bytes.data(), sizeof key);
  return key;
}

double seconds_since(MemoCalls::Clock::time_point time) {
  return std::chrono::duration<double>(MemoCalls::Clock::now() - time).count();
}

bool is_within(const Frame& frame, const Frame& other) {
  for (const Frame* each = frame.outer; each != nullptr; each = each->outer)
    if (each == &other) return true;
  return false;
}

/// A content and the path that the script gives the file, if it does.
std::expected<std::string, std::string> joined(std::expected<std::string, std::string> content, bool is_named,
                                               File& file) {
  if (!content) return std::unexpected(fmt::format("`{}`: {}", file.path(), content.error()));
  std::string text;
  append_text(text, *content);
  append_text(text, is_named ? file.path() : "");
  return text;
}

/// Of a file: its name counts as well, as the script may read it.
/// @param states    of the files that are inputs, before they were read
/// @return  none if an input can not be read
std::optional<RecordedCall> recorded_call(Frame& frame, const MemoSite& site, CallRecord& record,
                                          MemoCalls::States& states) {
  RecordedCall call{.key = {}, .function = site.function, .code = site.code, .inputs = ""};
  std::string all;
  const FileWriter write_file = [&record, &states](File& file) {
    states.push_back(state_of(file.path()));
    return joined(record.files().name_of(file.path()), file.is_named(), file);
  };
  for (std::size_t i = 0; i < site.inputs.size(); ++i) {
    const Value value = frame.at(site.inputs[i]).get();
    std::string bytes;
    if (!append_value(bytes, value, write_file)) return std::nullopt;
    call.inputs += fmt::format("{}\t{}\n", site.input_names[i], shown_value(value, bytes));
    all += bytes;
  }
  call.key = record.key_of(call, all);
  return call;
}

/// Its input files may have been edited since, before or after they were read, and put back.
bool is_as_before(Frame& frame, const MemoCalls::Begun& begun, CallRecord& record) {
  MemoCalls::States states;
  const std::optional<RecordedCall> now = recorded_call(frame, *begun.site, record, states);
  return now && now->key == begun.call.key && states == begun.input_states;
}

/// What has stayed as it was since it was named; what only words name, and has not, is taken for what programs write.
/// @error  something else has not: nobody knows which of its contents
std::expected<void, std::string> add_reads(std::vector<ReadFile>& reads, const MemoCalls::Begun& begun,
                                           KeptFiles& files) {
  for (const auto& [name, noted] : begun.reads) {
    const bool is_as_before =
        has_version(files, name, noted.version) && (!noted.is_certain || state_of(name) == noted.state);
    if (is_as_before)
      reads.push_back({name, noted.version});
    else if (noted.is_certain)
      return std::unexpected(fmt::format("`{}` was changed while `{}` was computed", name, begun.call.function));
  }
  return {};
}

/// @param results  as they are kept
std::string shown_result(Frame& frame, const MemoSite& site, std::string_view results) {
  if (site.files.empty() && site.outputs.size() == 1) {
    const Value value = frame.at(site.outputs[0]).get();
    switch (value.kind()) {
      case ValueKind::int_:
      case ValueKind::float_:
      case ValueKind::boolean:
      case ValueKind::int32:
      case ValueKind::float32:
      case ValueKind::string:
      case ValueKind::void_: return shown_value(value, results);
      default: break;
    }
  }
  return fmt::format("#{:016x}", hash(results).low);
}

/// Results as they come out of the record.
struct Taken {
  std::vector<std::string> contents;  ///< of MemoSite::files
  std::vector<Value> values;          ///< of MemoSite::outputs
};

std::optional<Taken> read_results(const MemoSite& site, std::string_view bytes, CallRecord& record) {
  const FileReader read_file = [&record](std::string_view text) {
    const std::optional<std::string_view> content = take_text(text);
    const std::optional<std::string_view> path = take_text(text);
    if (!content || !path) return Value();
    const Ref<File> file = path->empty() ? make_ref<File>() : make_ref<File>(std::string(*path));
    if (!record.files().restore(std::string(*content), file->path())) return Value();
    WakeList nobody;
    file->complete().set(Value::of_void(), nobody);
    return Value::of_object(ValueKind::file, file);
  };
  Taken taken;
  for (std::size_t i = 0; i < site.files.size(); ++i) {
    const std::optional<std::string_view> content = take_text(bytes);
    if (!content) return std::nullopt;
    taken.contents.emplace_back(*content);
  }
  for (const ForeignType& type : site.output_types) {
    taken.values.push_back(take_value(bytes, type, read_file));
    if (!taken.values.back()) return std::nullopt;
  }
  return taken;
}

}  // namespace

/// @return false if the record does not have all of it
bool MemoCaller::take_results(Frame& frame, const Instruction& in, CallRecord& record, const std::string& results) {
  const MemoSite& site = program_.memos[in.d];
  std::optional<Taken> taken = read_results(site, results, record);
  if (!taken) return false;
  for (std::size_t i = 0; i < site.files.size(); ++i) {
    const std::string& path = object_in<File>(frame.at(site.files[i])).path();
    const bool is_free =
        !has_file_claims() || claim_file(file_place(path));  // else who writes it has it kept for its own
    if (!is_free || !record.files().restore(taken->contents[i], path)) return false;
  }
  for (const Operand output : site.files) {
    File& file = object_in<File>(frame.at(output));
    file.set_written(identity_of(file.path()));
    if (!here_.set(file.complete(), Value::of_void())) here_.assigned_twice(frame, here_.index_of(in), file.path());
  }
  for (std::size_t i = 0; i < site.outputs.size(); ++i)
    here_.set(frame.at(site.outputs[i]), std::move(taken->values[i]), frame, here_.index_of(in), site.outputs[i]);
  return true;
}

void MemoCaller::memo(Frame& frame, const Instruction& in) {
  const MemoSite& site = program_.memos[in.d];
  CallRecord* const record = run_.options.call_record;
  std::optional<RecordedCall> call;
  MemoCalls::States states;
  if (record) call = recorded_call(frame, site, *record, states);
  if (!call) return enter_miss(frame, in, std::string());
  const PointKey key = call->key;
  while (const Frame* other = run_.memo_calls.begin(*call, frame, site, states)) {
    if (is_within(frame, *other))
      return fail_memo(
          frame, in,
          here_.failure_at(frame, here_.index_of(in),
                           fmt::format("`{}` is called with the same inputs within its own body: it would wait "
                                       "for itself",
                                       site.function)));
    auto* waiting = here_.make<MemoWait>(frame, here_.index_of(in));
    frame.retain();
    if (run_.memo_calls.wait(key, *waiting)) return;
    here_.destroy(waiting);
    here_.release(&frame);
  }
  const std::optional<CallRecord::Found> found = record->find(*call);
  const auto compute = [&] {
    if (TaskListener* const listener = run_.options.listener)
      run_.memo_calls.set_number(key, listener->begun({}, {}, false));
    enter_miss(frame, in, bytes_of(key));
  };
  if (!found) return compute();
  std::vector<std::string> begun;
  if (const Value failure = here_.programs().begin_outputs(frame, in, WrittenFiles::How::at_once, begun)) {
    fail_memo(frame, in, failure);
    return end_memo(key);
  }
  if (!take_results(frame, in, *record, found->results)) {
    here_.programs().give_up_outputs(frame, in, begun);  // what computes them writes them
    return compute();
  }
  ++here_.counters.memo_calls_taken;
  for (const ReadFile& file : found->reads) note_read(frame, named_as(file.name, file.version));
  if (TaskListener* const listener = run_.options.listener)
    listener->ended({.number = 0,
                     .call = *call,
                     .place = frame.place_of_call(here_.index_of(in)),
                     .is_from_record = true,
                     .result = shown_result(frame, site, found->results),
                     .reads = found->reads,
                     .worker = worker_->index() + 1});
  end_memo(key);
}

void MemoCaller::enter_miss(Frame& frame, const Instruction& in, std::string key) {
  const MemoSite& site = program_.memos[in.d];
  ++here_.counters.memo_calls_run;
  here_.set(frame.at(site.key), Value::of(std::move(key)), frame, here_.index_of(in), site.key);
  here_.interpreter().enter_arm(frame, site.miss);
}

void MemoCaller::memo_keep(Frame& frame, const Instruction& in) {
  const MemoSite& site = program_.memos[in.d];
  const std::string& key_bytes = object_in<String>(frame.at(site.key)).text;
  if (key_bytes.empty()) return;
  const PointKey key = key_of(key_bytes);
  CallRecord& record = *run_.options.call_record;
  MemoCalls::Begun begun = run_.memo_calls.begun(key);
  KeptCall kept{.call = begun.call, .results = "", .contents = {}};
  kept.duration_s = seconds_since(begun.time);
  const auto keep_content = [&](File& file) {
    std::expected<std::string, std::string> content = record.files().keep(file.path(), file.written());
    if (content) kept.contents.push_back(*content);
    return content;
  };
  std::expected<void, std::string> outcome;
  for (const Operand output : site.files) {
    File& file = object_in<File>(frame.at(output));
    if (!outcome) break;
    const std::expected<std::string, std::string> content = keep_content(file);
    if (content)
      append_text(kept.results, *content);
    else
      outcome = std::unexpected(fmt::format("`{}`: {}", file.path(), content.error()));
  }
  const FileWriter write_file = [&](File& file) { return joined(keep_content(file), file.is_mapped(), file); };
  for (const Operand output : site.outputs)
    if (outcome) outcome = append_value(kept.results, frame.at(output).get(), write_file);
  if (outcome) outcome = add_reads(kept.reads, begun, record.files());
  if (TaskListener* const listener = run_.options.listener)
    listener->ended({.number = begun.number,
                     .call = kept.call,
                     .place = frame.place_of_call(here_.index_of(in)),
                     .result = shown_result(frame, site, kept.results),
                     .reads = kept.reads,
                     .duration_s = kept.duration_s,
                     .worker = worker_->index() + 1});
  if (outcome && begun.frame != nullptr && !is_as_before(*begun.frame, begun, record))
    outcome = std::unexpected(fmt::format("an input of `{}` was changed while it was computed", begun.site->function));
  if (outcome)
    record.keep(std::move(kept));
  else
    record.note_problem(outcome.error());
  end_memo(key);
}

void MemoCaller::fail_memo(Frame& frame, const Instruction& in, const Value& failure) {
  const MemoSite& site = program_.memos[in.d];
  if (in.opcode == Opcode::memo_keep) {
    const std::string& key_bytes = object_in<String>(frame.at(site.key)).text;
    if (key_bytes.empty()) return;
    const PointKey key = key_of(key_bytes);
    tell_of_failed_memo(frame, here_.index_of(in), as_failure(failure).message);
    return end_memo(key);
  }
  here_.fail_all(frame, site.outputs, failure);
  for (const Operand output : site.files) {
    const Future& file = frame.at(output);
    if (!file.is_failed()) here_.set(object_in<File>(file).complete(), failure);
  }
}

void MemoCaller::tell_of_failed_memo(const Frame& frame, std::uint32_t instruction, const std::string& fault) {
  TaskListener* const listener = run_.options.listener;
  const std::optional<MemoCalls::Begun> begun = listener ? run_.memo_calls.take_begun_by(frame) : std::nullopt;
  if (!begun) return;
  listener->ended({.number = begun->number,
                   .call = begun->call,
                   .place = frame.place_of_call(instruction),
                   .fault = fault,
                   .duration_s = seconds_since(begun->time),
                   .worker = worker_->index() + 1});
}

void MemoCaller::end_memo(const PointKey& key) {
  for (MemoWait* waiting : run_.memo_calls.end(key)) here_.push(*waiting, waiting->frame.priority);
}

void MemoWait::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::ending, frame, instruction);
  here.memos().look_again(this);
}

void MemoCaller::look_again(MemoWait* waited) {
  Frame& frame = waited->frame;
  const std::uint32_t instruction = waited->instruction;
  here_.destroy(waited);
  memo(frame, program_.instructions[instruction]);
  here_.release(&frame);
}

}  // namespace raddle::vm
