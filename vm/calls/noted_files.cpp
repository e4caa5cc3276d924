// Files that calls read: for results that are kept, which hold only while these are what they were, and for who listens
// to the run.
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "vm/calls/files_in.hpp"
#include "vm/calls/memo_caller.hpp"
#include "vm/calls/memo_calls.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_listener.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/matching_paths.hpp"

namespace raddle::vm {

namespace {

/// Strings in a value of elements, however deep.
void append_strings(std::vector<std::string>& strings, const Value& value) {
  if (value.kind() == ValueKind::array)
    value.as_array().for_each([&](const Value&, const Value& element) { append_strings(strings, element); });
  else if (value.kind() == ValueKind::string)
    strings.push_back(value.as_string());
}

}  // namespace

bool MemoCaller::is_noting() const { return run_.options.listener != nullptr || run_.options.call_record != nullptr; }

void MemoCalls::note(const Frame& frame, const NamedFile& file, KeptFiles& files, WrittenFiles& written) {
  if (!has_begun_any()) return;
  const std::optional<FileState> state = state_of(file.name);
  const std::string version = version_of(files, file);
  const std::lock_guard lock(mutex_);
  for (const Frame* each = &frame; each != nullptr; each = each->outer) {
    const auto found = frames_.find(each);
    if (found == frames_.end()) continue;
    Begun& begun = begun_.at(found->second);
    const bool is_new = !file.is_pattern && is_written_after(file.name, begun.files_time);
    if (is_new && (file.may_be_made || written.is_written(file.name))) continue;  // in the call
    Noted& noted = begun.reads.try_emplace(file.name, Noted{version, false, state}).first->second;
    noted.is_certain |= file.is_certain;
    join_versions(files, file.name, noted.version, version);
  }
}

void MemoCaller::note_read(const Frame& frame, NamedFile file) {
  file.may_be_made = run_.has_run_program();
  file.is_certain = true;
  if (TaskListener* const listener = run_.options.listener) listener->reads(file);
  if (CallRecord* const record = run_.options.call_record)
    run_.memo_calls.note(frame, file, record->files(), run_.written_files);
}

void MemoCaller::note_words(const Frame& frame, const std::vector<std::string>& words) {
  for (NamedFile& file : named_files(words)) {
    file.may_be_made = run_.has_run_program();
    if (TaskListener* const listener = run_.options.listener) listener->reads(file);
    if (CallRecord* const record = run_.options.call_record)
      run_.memo_calls.note(frame, file, record->files(), run_.written_files);
  }
}

void MemoCaller::note_words(Frame& frame, const AppSite& site, const std::vector<std::string>& words) {
  CallRecord* const record = run_.options.call_record;
  if (record == nullptr || !run_.memo_calls.has_begun_any()) return;
  std::vector<File*> files;
  for (const Operand word : site.words) append_files(files, frame.at(word).get());
  for (NamedFile& file : named_files(words)) {
    file.may_be_made = run_.has_run_program();
    const auto is_it = [&file](File* each) { return each->path() == file.name; };
    if (std::ranges::none_of(files, is_it)) run_.memo_calls.note(frame, file, record->files(), run_.written_files);
  }
}

void MemoCaller::note_reads(Frame& frame, const BuiltinSite& site) {
  if (!is_noting()) return;
  if (site.files_read == FilesRead::of_inputs) {
    for (std::size_t i = site.file_output_count; i < site.arguments.size(); ++i) {
      const Value input = frame.at(site.arguments[i]).get();
      if (input.kind() == ValueKind::file && input.as_file().is_named() && !input.as_file().written())
        note_read(frame, {.name = input.as_file().path(), .is_certain = true});
    }
    return;
  }
  if (site.files_read == FilesRead::of_words) {
    std::vector<std::string> words;
    for (const Operand argument : site.arguments) append_strings(words, frame.at(argument).get());
    return note_words(frame, words);
  }
  const Value first = frame.at(site.arguments[0]).get();
  const std::string name = first.kind() == ValueKind::file ? first.as_file().path() : first.as_string();
  note_read(frame, {.name = name,
                    .is_pattern = site.files_read == FilesRead::of_pattern && is_pattern(name),
                    .is_time = site.files_read == FilesRead::of_time,
                    .is_link = site.files_read == FilesRead::of_link});
}

void MemoCaller::note_found(const Frame& frame, const Value& files) {
  if (!is_noting()) return;
  files.as_array().for_each(
      [&](const Value&, const Value& file) { note_read(frame, {.name = file.as_file().path()}); });
}

}  // namespace raddle::vm
