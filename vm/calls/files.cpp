// Files that are written: by one call each, and never over an input of that call.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "vm/calls/program_caller.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_listener.hpp"
#include "vm/math/random.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/whole_file.hpp"
#include "vm/value/zero_byte.hpp"

namespace raddle::vm {

namespace {

using Status = struct stat;

/// Calls `visit` for each file in the value, however deep.
template <typename Visitor>
void for_each_file(const Value& value, const Visitor& visit) {
  if (value.kind() == ValueKind::file) return visit(value.as_file());
  const auto inner = [&visit](const Value& element) { for_each_file(element, visit); };
  if (value.kind() == ValueKind::array)
    value.as_array().for_each([&inner](const Value&, const Value& element) { inner(element); });
  else if (value.kind() == ValueKind::bag)
    value.as_bag().for_each(inner);
  else if (value.kind() == ValueKind::structure)
    for (std::size_t i = 0; i < value.as_structure().field_count(); ++i) inner(value.as_structure().field(i).get());
}

bool is_same_file(const Status& one, const std::string& other) {
  Status status{};
  return stat(other.c_str(), &status) == 0 && status.st_dev == one.st_dev && status.st_ino == one.st_ino;
}

/// @return  the path of the input that is the file `output`, "" if none is
std::string overwritten_input(const std::string& output, const std::vector<Value>& inputs) {
  Status status{};
  if (stat(output.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string found;
  for (const Value& input : inputs) {
    for_each_file(input, [&](File& file) {
      if (found.empty() && is_same_file(status, file.path())) found = file.path();
    });
  }
  return found;
}

/// Whether the file of `input` is there without the name `output`, which is a link that leads to it or a further name.
bool is_kept_without(const std::string& output, const std::string& input) {
  const std::filesystem::path removed = entry_of(output);
  bool is_kept = true;
  follow_links(input, [&](const std::filesystem::path& name) { return is_kept = entry_of(name) != removed; });
  return is_kept;
}

std::string overwrites_text(const std::string& output, const std::string& input) {
  if (output == input) return fmt::format("`{}` is both an input and an output of this call", output);
  return fmt::format("output `{}` of this call is the same file as its input `{}`", output, input);
}

const Frame& function_around(const Frame& frame) {
  const Frame* function = &frame;
  while (!function->is_function()) function = function->outer;
  return *function;
}

/// Tells the activations of functions apart: which of two is meant is the same in every schedule.
std::uint64_t activation_of(const Frame& frame) { return function_around(frame).stream; }

/// Nothing, or all of it, under the name `to`; a device, pipe or stream gets what there is.
void copy_whole(const std::filesystem::path& from, const std::filesystem::path& to, std::error_code& error) {
  const FileDescriptor source(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  Status about{};
  if (!source || fstat(source.get(), &about) != 0) {
    error.assign(errno, std::generic_category());
    return;
  }
  const auto written = write_whole(to.string(), about.st_mode & 0777, [&source](int target) {
    std::vector<char> piece(1 << 18);
    ssize_t count = 0;
    while ((count = read(source.get(), piece.data(), piece.size())) > 0)
      if (const int fault = write_all(target, {piece.data(), static_cast<std::size_t>(count)}); fault != 0)
        return fault;
    return count < 0 ? errno : 0;
  });
  if (!written) error.assign(written.error(), std::generic_category());
}

}  // namespace

/// Files that a function declares, in activations that are called in one activation of another function, `levels` up,
/// and in one iteration of each `foreach` between. 0: of no others.
std::uint64_t ProgramCaller::series_of(const Frame& frame, std::uint32_t levels) const {
  if (levels == 0) return 0;
  const Frame* around = &function_around(frame);
  const std::uint64_t function = around->body.function;
  const auto is_iteration = [&](const Frame& each) {
    const auto has_it = [&](const ForeachSite& site) { return &program_.bodies[site.body] == &each.body; };
    return std::ranges::any_of(program_.foreaches, has_it);
  };
  for (; levels > 0; --levels) {
    const Frame& callee = *around;
    around = around->outer;
    // in deep tail calls it is not the caller
    if (around == nullptr || callee.stream != here_.stream_at(*around, callee.call_site)) return 0;
    while (!around->is_function() && !is_iteration(*around)) around = around->outer;
    if (!around->is_function()) break;
  }
  return math::mix_stream(around->stream, std::uint64_t{function}) | 1;
}

/// Of a call of an app, a function in Tcl or of the library, or one whose results are taken from an earlier run.
ProgramCaller::FileUse ProgramCaller::file_use(Frame& frame, const Instruction& in) {
  FileUse use;
  const auto add_output = [&](Operand operand) {
    File& file = object_in<File>(frame.at(operand));
    if (file.is_mapped()) use.outputs.push_back(&file);
  };
  const auto add_inputs = [&](std::span<const Operand> operands) {
    if (use.outputs.empty()) return;
    for (const Operand operand : operands) use.inputs.push_back(frame.at(operand).get());
  };
  if (form_of(in.opcode) == InstructionForm::builtin) {
    const BuiltinSite& site = program_.builtins[in.d];
    for (std::size_t i = 0; i < site.file_output_count; ++i) add_output(site.arguments[i]);
    add_inputs(std::span(site.arguments).subspan(site.file_output_count));
    return use;
  }
  if (form_of(in.opcode) == InstructionForm::memo) {
    const MemoSite& site = program_.memos[in.d];
    for (const Operand output : site.files) add_output(output);
    add_inputs(site.inputs);
    return use;
  }
  const AppSite& site = program_.apps[in.d];
  for (const Operand output : site.file_outputs)
    if (std::ranges::find(site.url_outputs, output) == site.url_outputs.end()) add_output(output);
  const std::uint32_t parameter_count = program_.functions[frame.body.function].parameter_count;
  std::vector<Operand> inputs;
  for (auto i = static_cast<std::uint32_t>(site.file_outputs.size()); i < parameter_count; ++i)
    inputs.push_back(Operand::local(i, 0, false));
  if (!site.stdin_file.is_absent()) inputs.push_back(site.stdin_file);
  add_inputs(inputs);
  return use;
}

/// Before anything is written or emptied. @return the failure if the call must not write its outputs
Value ProgramCaller::begin_outputs(Frame& frame, const Instruction& in, WrittenFiles::How how,
                                   std::vector<std::string>& begun) {
  const FileUse use = file_use(frame, in);
  std::vector<WrittenFiles::Output> outputs;
  for (File* file : use.outputs) {
    const std::string input = overwritten_input(file->path(), use.inputs);
    const bool is_link = !input.empty() && is_kept_without(file->path(), input);
    if (!input.empty() && !is_link) {
      return here_.failure_at(
          frame, here_.index_of(in), overwrites_text(file->path(), input),
          {.help = "map the output to another name: a file can not be read and written by one call"});
    }
    if (file->begin_writing())
      outputs.emplace_back(file->path(), is_link, file->replaces(), file->activation(), file->series());
  }
  if (outputs.empty()) return {};
  if (const Value failure = begin_writing(frame, here_.index_of(in), outputs, how, begun)) return failure;
  // an earlier run may have left the link: a program that makes it anew is to find what it found then
  for (const WrittenFiles::Output& output : outputs)
    if (output.replaces_link) unlink(output.path.c_str());
  return {};
}

/// The call does not write them after all: another one may.
void ProgramCaller::give_up_outputs(Frame& frame, const Instruction& in, const std::vector<std::string>& begun) {
  for (File* file : file_use(frame, in).outputs) file->give_up_writing();
  run_.written_files.give_up(begun);
}

/// @return  the failure if another call of the run writes one of the files
Value ProgramCaller::begin_writing(Frame& frame, std::uint32_t instruction,
                                   const std::vector<WrittenFiles::Output>& outputs, WrittenFiles::How how,
                                   std::vector<std::string>& begun) {
  auto outcome =
      run_.written_files.begin(run_.number, outputs, here_.call_place(frame, program_.places[instruction]), how);
  if (outcome) {
    begun = std::move(*outcome);
    if (run_.options.listener != nullptr)
      for (const WrittenFiles::Output& output : outputs) run_.options.listener->writes(output.path);
    return {};
  }
  if (const std::optional<std::uint64_t> point = outcome.error().point) {
    return here_.failure_at(
        frame, instruction,
        fmt::format("`{}` is written at point {} of the sweep, too: give each point a file of its own, as in `file f "
                    "<\"out-%i.txt\" % n>`",
                    outcome.error().mine.path, *point),
        {.help = "what all points read is to be there before the sweep"});
  }
  // which of the two came first is an accident: the report names them in the order of the text
  auto& first = outcome.error().mine;
  auto& second = outcome.error().other;
  if (second.call < first.call) std::swap(first, second);
  frame.careful.store(true, std::memory_order_relaxed);
  return here_.new_failure(frame, std::move(first.call), fmt::format("`{}` is written more than once", first.path),
                           {.other_call = std::move(second.call),
                            .help = "give each call a file of its own, as in `file f <\"out-%i.txt\" % i>`"},
                           KeptBy::nobody);
}

/// A copy if the target has a name of its own, else another name of the source. @return the failure, if it failed
Value ProgramCaller::fill_file(Frame& frame, const Instruction& in, File& target, File& from) {
  if (target.alias(Ref<File>::share(&from))) return {};
  const std::string what = fmt::format("can not copy `{}` to `{}`: ", from.path(), target.path());
  if (in.d != 0) return here_.failure_at(frame, here_.index_of(in), what + "a url is never copied");
  std::error_code error;
  const std::filesystem::path to(target.path());
  std::error_code unknown;  // of files that are not there yet
  if (std::filesystem::equivalent(from.path(), to, unknown)) return {};
  if (target.is_mapped() && target.begin_writing()) {
    std::vector<std::string> begun;
    if (Value failure = begin_writing(frame, here_.index_of(in),
                                      {{target.path(), false, target.replaces(), target.activation(), target.series()}},
                                      WrittenFiles::How::at_once, begun))
      return failure;
  }
  if (to.has_parent_path()) std::filesystem::create_directories(to.parent_path(), error);
  if (!error) copy_whole(from.path(), to, error);
  return error ? here_.failure_at(frame, here_.index_of(in), what + error_text(error.value())) : Value();
}

bool ProgramCaller::file_new(Frame& frame, const Instruction& in) {
  Ref<File> file;
  if (in.b.is_absent()) {
    file = make_ref<File>();
  } else {
    const std::string& path = object_in<String>(frame.at(in.b)).text;
    const bool has_zero = has_zero_byte(path);
    if (path.empty() || has_zero) {
      here_.fail(frame, in, path.empty() ? "a file is mapped to an empty path" : "the path of a file has a zero byte");
      return false;
    }
    file = make_ref<File>(path, in.d % 2 != 0, activation_of(frame), series_of(frame, in.d / 2));
  }
  here_.put(frame, in, Value::of_object(ValueKind::file, std::move(file)));
  return true;
}

bool ProgramCaller::file_assign(Frame& frame, const Instruction& in) {
  File& target = object_in<File>(frame.at(in.b));
  const Value source = frame.at(in.c).get();
  if (const Value failure = fill_file(frame, in, target, source.as_file())) {
    here_.set(target.complete(), failure);
    return false;
  }
  if (!here_.set(target.complete(), Value::of_void())) here_.assigned_twice(frame, here_.index_of(in), target.path());
  return true;
}

}  // namespace raddle::vm
