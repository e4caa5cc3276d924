#include "vm/foreign/tcl_interpreter.hpp"

#include <fmt/format.h>

#include <memory>

#include "vm/foreign/turbine_commands.hpp"
#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/file.hpp"
#include "vm/value/structure.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {

namespace {

constexpr int tcl_ok = 0, tcl_error = 1;
constexpr int tcl_stdin = 1 << 1;

// Packages are looked for where Swift/T does.
constexpr const char* start_text = R"(
foreach name {SWIFT_PATH TURBINE_PATH TURBINE_USER_LIB} {
  if {[info exists ::env($name)]} { lappend ::auto_path {*}[split $::env($name) :] }
}
catch {fconfigure stdout -buffering line}

# it would end the process
rename ::exit ::raddle::exit_process
proc ::exit {args} { ::raddle::left {*}$args }

# The environment as this rank has it. Tcl's own array shows that of the process, which all ranks share; here what code
# sets goes to the process, too, but not what tells the rank.
namespace eval ::raddle {
  variable environment [array get ::env]
  unset ::env
  array set ::env $environment
  unset environment
  array set ::env [list ADLB_RANK_SELF $rank ADLB_RANK_OFFSET $rank ADLB_RANK_LEADER 0]
  proc set_variable {array name operation} {
    if {$operation eq {write}} { ::raddle::setenv $name $::env($name) } else { ::raddle::setenv $name }
  }
  trace add variable ::env {write unset} ::raddle::set_variable
}
)";

}  // namespace

std::expected<TclInterpreter*, std::string> TclInterpreter::of_thread(const ForeignHost& host) {
  const auto& api = tcl_api();
  if (!api) return std::unexpected(api.error());
  thread_local std::unique_ptr<TclInterpreter> own;
  if (!own) {
    own.reset(new TclInterpreter(*api));
    own->host_ = &host;
    const std::string rank =
        fmt::format("namespace eval ::raddle {{ variable rank {} workers {} }}\n", calling_rank, host.workers);
    if (!own->evaluate(api->Tcl_NewStringObj(rank.c_str(), -1)) ||
        !own->evaluate(api->Tcl_NewStringObj(start_text, -1)) ||
        !own->evaluate(api->Tcl_NewStringObj(turbine_commands, -1))) {
      std::string problem = "Tcl did not start: " + own->result_text();
      own.reset();
      return std::unexpected(std::move(problem));
    }
  }
  own->host_ = &host;
  return own.get();
}

TclInterpreter::TclInterpreter(const TclApi& api) : api_(api), interpreter_(api.Tcl_CreateInterp()) {
  // an empty standard input, as programs have it: that of the run may be a list which a shell's loop goes through
  if (Tcl_Channel* const empty = api_.Tcl_OpenFileChannel(nullptr, "/dev/null", "r", 0)) {
    api_.Tcl_SetStdChannel(empty, tcl_stdin);
    api_.Tcl_RegisterChannel(interpreter_, empty);
  }
  api_.Tcl_Init(interpreter_);  // without its script library most commands are there all the same
  api_.Tcl_CreateObjCommand(interpreter_, "::raddle::give", give, this, nullptr);
  api_.Tcl_CreateObjCommand(interpreter_, "::raddle::run_code", run_code, this, nullptr);
  api_.Tcl_CreateObjCommand(interpreter_, "::raddle::blob", blob, this, nullptr);
  api_.Tcl_CreateObjCommand(interpreter_, "::raddle::text", text, this, nullptr);
  api_.Tcl_CreateObjCommand(interpreter_, "::raddle::left", left, this, nullptr);
  api_.Tcl_CreateObjCommand(interpreter_, "::raddle::setenv", set_variable, this, nullptr);
}

void TclInterpreter::set_result(std::string_view text) {
  api_.Tcl_SetObjResult(interpreter_, api_.Tcl_NewStringObj(text.data(), static_cast<int>(text.size())));
}

int TclInterpreter::left(void* interpreter, Tcl_Interp*, int count, Tcl_Obj* const* words) {
  auto& self = *static_cast<TclInterpreter*>(interpreter);
  self.left_by_ = "exit";
  for (int i = 1; i < count; ++i) self.left_by_ += " " + self.text_of(words[i]);
  self.set_result("exit");
  return tcl_error;
}

int TclInterpreter::run_code(void* interpreter, Tcl_Interp*, int count, Tcl_Obj* const* words) {
  auto& self = *static_cast<TclInterpreter*>(interpreter);
  int exceptions_are_errors = 0;
  std::expected<std::string, std::string> outcome = std::unexpected("it needs four words");
  if (count == 5 && self.api_.Tcl_GetBooleanFromObj(nullptr, words[2], &exceptions_are_errors) == tcl_ok)
    outcome = self.host_->run_code({.function = self.text_of(words[1]),
                                    .code = self.text_of(words[3]),
                                    .expression = self.text_of(words[4]),
                                    .exceptions_are_errors = exceptions_are_errors != 0,
                                    .rank = {calling_rank, true}});
  self.set_result(outcome ? *outcome : outcome.error());
  return outcome ? tcl_ok : tcl_error;
}

int TclInterpreter::blob(void* interpreter, Tcl_Interp*, int count, Tcl_Obj* const* words) {
  auto& self = *static_cast<TclInterpreter*>(interpreter);
  if (count != 2) return tcl_error;
  std::string text = self.text_of(words[1]);
  text += '\0';  // as Turbine makes blobs of strings
  self.blobs_.push_back(std::move(text));
  const std::string& bytes = self.blobs_.back();
  self.set_result(fmt::format("{} {}", reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size()));
  return tcl_ok;
}

int TclInterpreter::set_variable(void* interpreter, Tcl_Interp*, int count, Tcl_Obj* const* words) {
  auto& self = *static_cast<TclInterpreter*>(interpreter);
  if (count < 2) return tcl_error;
  const std::string name = self.text_of(words[1]);
  if (count > 2)
    setenv(name.c_str(), self.text_of(words[2]).c_str(), 1);
  else
    unsetenv(name.c_str());
  return tcl_ok;
}

std::string TclInterpreter::run(const std::string& script) {
  return problem_of(evaluate(api_.Tcl_NewStringObj(script.data(), static_cast<int>(script.size()))));
}

int TclInterpreter::text(void* interpreter, Tcl_Interp*, int count, Tcl_Obj* const* words) {
  auto& self = *static_cast<TclInterpreter*>(interpreter);
  const auto bytes = count == 2 ? self.blob_from_tcl(words[1]) : std::unexpected(std::string("it needs one word"));
  if (!bytes) {
    self.set_result(bytes.error());
    return tcl_error;
  }
  std::string_view text = bytes->as_bytes();
  if (text.ends_with('\0')) text.remove_suffix(1);
  self.set_result(text);
  return tcl_ok;
}

int TclInterpreter::give(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words) {
  auto& self = *static_cast<TclInterpreter*>(interpreter);
  self.has_given_ = true;
  self.api_.Tcl_SetObjResult(tcl, self.api_.Tcl_NewListObj(count - 1, words + 1));
  return tcl_ok;
}

TclInterpreter::~TclInterpreter() {
  api_.Tcl_DeleteInterp(interpreter_);
  api_.Tcl_FinalizeThread();
}

bool TclInterpreter::evaluate(Tcl_Obj* script) {
  api_.Tcl_DbIncrRefCount(script, __FILE__, __LINE__);
  const int code = api_.Tcl_EvalObjEx(interpreter_, script, 0);
  api_.Tcl_DbDecrRefCount(script, __FILE__, __LINE__);
  return code == tcl_ok;
}

std::string TclInterpreter::result_text() { return text_of(api_.Tcl_GetObjResult(interpreter_)); }

/// Code may have caught the error that `exit` is.
std::string TclInterpreter::problem_of(bool is_good) {
  if (!left_by_.empty())
    return fmt::format("`{}` has called `{}`, which would end the run", OpenCall::of_thread()->function().name,
                       left_by_);
  if (is_good) return {};
  std::string problem = result_text();
  return problem.empty() ? "an error without a text" : problem;
}

std::string TclInterpreter::text_of(Tcl_Obj* object) {
  int length = 0;
  const char* text = api_.Tcl_GetStringFromObj(object, &length);
  return {text, static_cast<std::size_t>(length)};
}

std::optional<std::span<Tcl_Obj* const>> TclInterpreter::list(Tcl_Obj* object) {
  int count = 0;
  Tcl_Obj** elements = nullptr;
  if (api_.Tcl_ListObjGetElements(nullptr, object, &count, &elements) != tcl_ok) return std::nullopt;
  return std::span<Tcl_Obj* const>(elements, static_cast<std::size_t>(count));
}

std::string TclInterpreter::call(const std::string& name, const std::string& definition, std::span<const Value> inputs,
                                 const std::vector<ForeignFormal>& outputs, std::span<Value> values) {
  left_by_.clear();
  if (!defined_.contains(name)) {
    const auto length = static_cast<int>(definition.size());
    const bool is_defined = evaluate(api_.Tcl_NewStringObj(definition.data(), length));
    if (std::string problem = problem_of(is_defined); !problem.empty()) return problem;
    defined_.insert(name);
  }
  Tcl_Obj* command = api_.Tcl_NewListObj(0, nullptr);
  api_.Tcl_ListObjAppendElement(nullptr, command, api_.Tcl_NewStringObj(name.c_str(), -1));
  for (const Value& input : inputs) api_.Tcl_ListObjAppendElement(nullptr, command, to_tcl(input));
  has_given_ = false;
  blobs_.clear();
  const bool is_good = evaluate(command);
  if (std::string problem = problem_of(is_good); !problem.empty()) return problem;
  const auto results = list(api_.Tcl_GetObjResult(interpreter_));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].type.kind == ValueKind::void_) {
      values[i] = Value::of_void();
      continue;
    }
    if (!has_given_ || !results || results->size() != outputs.size())
      return fmt::format("output `{}` is taken at the end of the code, which `return` has left before",
                         outputs[i].name);
    auto value = from_tcl((*results)[i], outputs[i].type);
    if (!value) return fmt::format("output `{}`: {}", outputs[i].name, value.error());
    values[i] = std::move(*value);
  }
  return {};
}

/// Scalars as text, arrays and structures as dictionaries, bags as lists, files as {path references is_mapped}, blobs
/// as {address length}.
Tcl_Obj* TclInterpreter::to_tcl(const Value& value) {
  const auto text = [this](const std::string& bytes) {
    return api_.Tcl_NewStringObj(bytes.data(), static_cast<int>(bytes.size()));
  };
  const auto is_container = value.kind() == ValueKind::array || value.kind() == ValueKind::bag ||
                            value.kind() == ValueKind::structure || value.kind() == ValueKind::file;
  if (value.kind() == ValueKind::blob) {
    const std::string& bytes = value.as_bytes();
    return text(fmt::format("{} {}", reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size()));
  }
  if (!is_container) return text(value.kind() == ValueKind::void_ ? std::string() : to_text(value));
  Tcl_Obj* list = api_.Tcl_NewListObj(0, nullptr);
  const auto append = [&](Tcl_Obj* element) { api_.Tcl_ListObjAppendElement(nullptr, list, element); };
  if (value.kind() == ValueKind::array) {
    value.as_array().for_each([&](const Value& key, const Value& element) {
      append(to_tcl(key));
      append(to_tcl(element));
    });
  } else if (value.kind() == ValueKind::bag) {
    value.as_bag().for_each([&](const Value& element) { append(to_tcl(element)); });
  } else if (value.kind() == ValueKind::structure) {
    Structure& structure = value.as_structure();
    for (std::size_t i = 0; i < structure.field_count(); ++i) {
      append(text(structure.field_name(i)));
      append(to_tcl(structure.field(i).get()));
    }
  } else {
    append(text(value.as_file().path()));
    append(text("1"));
    append(text(value.as_file().is_mapped() ? "1" : "0"));
  }
  return list;
}

std::expected<Value, std::string> TclInterpreter::from_tcl(Tcl_Obj* object, const ForeignType& type) {
  const auto wrong = [&](const char* wanted) {
    return std::unexpected(fmt::format("`{}` is no {}", text_of(object), wanted));
  };
  switch (type.kind) {
    case ValueKind::int_: {
      long value = 0;
      if (api_.Tcl_GetWideIntFromObj(nullptr, object, &value) != tcl_ok) return wrong("int");
      return Value::of(std::int64_t{value});
    }
    case ValueKind::float_: {
      double value = 0;
      if (api_.Tcl_GetDoubleFromObj(nullptr, object, &value) != tcl_ok) return wrong("float");
      return Value::of(value);
    }
    case ValueKind::boolean: {
      int value = 0;
      if (api_.Tcl_GetBooleanFromObj(nullptr, object, &value) != tcl_ok) return wrong("boolean");
      return Value::of(value != 0);
    }
    case ValueKind::string: return Value::of(text_of(object));
    case ValueKind::array: return array_from_tcl(object, type);
    case ValueKind::bag: return bag_from_tcl(object, type);
    case ValueKind::structure: return structure_from_tcl(object, type);
    case ValueKind::blob: return blob_from_tcl(object);
    case ValueKind::file: {
      const auto parts = list(object);
      if (!parts || parts->empty()) return wrong("file");
      return File::existing(text_of(parts->front()));
    }
    case ValueKind::none:
    case ValueKind::void_:
    case ValueKind::updateable:
    case ValueKind::failure: break;
  }
  return Value::of_void();
}

std::expected<Value, std::string> TclInterpreter::array_from_tcl(Tcl_Obj* object, const ForeignType& type) {
  const auto parts = list(object);
  if (!parts || parts->size() % 2 != 0) return std::unexpected("an array is a dictionary: keys and values in turn");
  const ForeignType key_type{.kind = type.key, .key = ValueKind::none, .element = {}};
  std::vector<std::pair<Value, Value>> entries;
  for (std::size_t i = 0; i < parts->size(); i += 2) {
    auto key = from_tcl((*parts)[i], key_type);
    if (!key) return key;
    auto value = from_tcl((*parts)[i + 1], type.element[0]);
    if (!value) return value;
    entries.emplace_back(std::move(*key), std::move(*value));
  }
  return Value::of_object(ValueKind::array, Array::keyed(std::move(entries)));
}

std::expected<Value, std::string> TclInterpreter::bag_from_tcl(Tcl_Obj* object, const ForeignType& type) {
  const auto elements = list(object);
  if (!elements) return std::unexpected("a bag is a list");
  Ref<Bag> bag = make_ref<Bag>(1);
  WakeList nobody;
  for (Tcl_Obj* element : *elements) {
    auto value = from_tcl(element, type.element[0]);
    if (!value) return value;
    bag->append().set(std::move(*value), nobody);
  }
  bag->release_writers(1, nobody);
  return Value::of_object(ValueKind::bag, std::move(bag));
}

std::expected<Value, std::string> TclInterpreter::structure_from_tcl(Tcl_Obj* object, const ForeignType& type) {
  const auto parts = list(object);
  if (!parts || parts->size() % 2 != 0) return std::unexpected("a structure is a dictionary: names and values in turn");
  Ref<Structure> structure = make_ref<Structure>(type.fields);
  WakeList nobody;
  for (std::size_t field = 0; field < type.fields.size(); ++field) {
    Tcl_Obj* found = nullptr;
    for (std::size_t i = 0; i < parts->size(); i += 2)
      if (text_of((*parts)[i]) == type.fields[field]) found = (*parts)[i + 1];
    if (found == nullptr) return std::unexpected(fmt::format("there is no field `{}`", type.fields[field]));
    auto value = from_tcl(found, type.element[field]);
    if (!value) return value;
    structure->field(field).set(std::move(*value), nobody);
  }
  return Value::of_object(ValueKind::structure, std::move(structure));
}

/// The bytes are copied: whoever made them frees them.
std::expected<Value, std::string> TclInterpreter::blob_from_tcl(Tcl_Obj* object) {
  const auto parts = list(object);
  long address = 0, length = 0;
  const bool is_blob = parts && parts->size() >= 2 &&
                       api_.Tcl_GetWideIntFromObj(nullptr, (*parts)[0], &address) == tcl_ok &&
                       api_.Tcl_GetWideIntFromObj(nullptr, (*parts)[1], &length) == tcl_ok && length >= 0 &&
                       (address != 0 || length == 0);
  if (!is_blob) return std::unexpected(fmt::format("`{}` is no blob: an address and a length", text_of(object)));
  return Value::of_blob(std::string(reinterpret_cast<const char*>(address), static_cast<std::size_t>(length)));
}

}  // namespace raddle::vm
