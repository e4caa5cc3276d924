#include "vm/foreign/tcl_interpreter.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <utility>
#include <vector>

#include "vm/foreign/tcl_memory.hpp"
#include "vm/foreign/turbine_commands.hpp"
#include "vm/foreign/value_message.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {

namespace {

constexpr int tcl_ok = 0, tcl_error = 1;

// Packages are looked for where Swift/T does.
constexpr const char* start_text = R"(
foreach name {SWIFT_PATH TURBINE_PATH TURBINE_USER_LIB} {
  if {[info exists ::env($name)]} { lappend ::auto_path {*}[split $::env($name) :] }
}
catch {fconfigure stdout -buffering line}

# the call tells of it
rename ::exit ::raddle::exit_process
proc ::exit {args} { ::raddle::left {*}$args }
)";

}  // namespace

std::expected<std::unique_ptr<TclInterpreter>, std::string> TclInterpreter::make(int rank, int workers,
                                                                                 RunCode run_code) {
  const auto& api = tcl_api();
  if (!api) return std::unexpected(api.error());
  std::unique_ptr<TclInterpreter> made(new TclInterpreter(*api, rank, std::move(run_code)));
  const std::string variables = fmt::format("namespace eval ::raddle {{ variable rank {} workers {} }}", rank, workers);
  for (const std::string_view text : {std::string_view(variables), std::string_view(start_text),
                                      std::string_view(turbine_commands), std::string_view(turbine_helpers)})
    if (!made->evaluate(made->object_of(text))) return std::unexpected("Tcl did not start: " + made->result_text());
  return made;
}

TclInterpreter::TclInterpreter(const TclApi& api, int rank, RunCode run_code)
    : api_(api), rank_(rank), run_code_(std::move(run_code)), interpreter_(api.Tcl_CreateInterp()) {
  api_.Tcl_Init(interpreter_);  // without its script library most commands are there all the same
  const std::pair<const char*, TclCommandFunction> commands[] = {{"::raddle::give", give},
                                                                 {"::raddle::run_code", TclInterpreter::run_code},
                                                                 {"::raddle::blob", blob},
                                                                 {"::raddle::text", text},
                                                                 {"::raddle::left", left}};
  for (const auto& [name, function] : commands) api_.Tcl_CreateObjCommand(interpreter_, name, function, this, nullptr);
  add_memory_command(api_, interpreter_);
}

TclInterpreter::~TclInterpreter() { api_.Tcl_DeleteInterp(interpreter_); }

Tcl_Obj* TclInterpreter::object_of(std::string_view text) {
  return api_.Tcl_NewStringObj(text.data(), static_cast<int>(text.size()));
}

void TclInterpreter::set_result(std::string_view text) { api_.Tcl_SetObjResult(interpreter_, object_of(text)); }

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
  TextOutcome outcome = std::unexpected("it needs four words");
  if (count == 5 && self.api_.Tcl_GetBooleanFromObj(nullptr, words[2], &exceptions_are_errors) == tcl_ok) {
    std::string request = "q";
    put(request, self.text_of(words[1]));
    put(request, std::int64_t{exceptions_are_errors});
    put(request, self.text_of(words[3]));
    put(request, self.text_of(words[4]));
    put(request, std::int64_t{self.rank_});
    outcome = self.run_code_(request);
  }
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

int TclInterpreter::text(void* interpreter, Tcl_Interp*, int count, Tcl_Obj* const* words) {
  auto& self = *static_cast<TclInterpreter*>(interpreter);
  auto bytes = count == 2 ? self.bytes_of(words[1]) : std::nullopt;
  if (!bytes) {
    self.set_result("it needs one word, a blob");
    return tcl_error;
  }
  if (bytes->ends_with('\0')) bytes->remove_suffix(1);
  self.set_result(*bytes);
  return tcl_ok;
}

int TclInterpreter::give(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words) {
  auto& self = *static_cast<TclInterpreter*>(interpreter);
  self.has_given_ = true;
  self.api_.Tcl_SetObjResult(tcl, self.api_.Tcl_NewListObj(count - 1, words + 1));
  return tcl_ok;
}

std::string TclInterpreter::run(const std::string& script) { return problem_of(evaluate(object_of(script))); }

bool TclInterpreter::evaluate(Tcl_Obj* script) {
  api_.Tcl_DbIncrRefCount(script, __FILE__, __LINE__);
  const int code = api_.Tcl_EvalObjEx(interpreter_, script, 0);
  api_.Tcl_DbDecrRefCount(script, __FILE__, __LINE__);
  return code == tcl_ok;
}

std::string TclInterpreter::result_text() { return text_of(api_.Tcl_GetObjResult(interpreter_)); }

/// Code may have caught the error that `exit` is.
std::string TclInterpreter::problem_of(bool is_good) {
  if (!left_by_.empty()) return fmt::format("`{}` has called `{}`, which would end the run", function_, left_by_);
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

std::optional<std::string_view> TclInterpreter::bytes_of(Tcl_Obj* object) {
  const auto parts = list(object);
  long address = 0, length = 0;
  const bool is_blob = parts && parts->size() >= 2 &&
                       api_.Tcl_GetWideIntFromObj(nullptr, (*parts)[0], &address) == tcl_ok &&
                       api_.Tcl_GetWideIntFromObj(nullptr, (*parts)[1], &length) == tcl_ok && length >= 0 &&
                       (address != 0 || length == 0);
  if (!is_blob) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(address), static_cast<std::size_t>(length));
}

/// @param definition  Tcl that comes before, parameters, body, each on lines of its own   @return its name, defined
TclInterpreter::TextOutcome TclInterpreter::procedure(const std::string& definition) {
  std::string& name = procedures_[definition];
  if (!name.empty()) return name;
  const std::string made = fmt::format("raddle_function_{}", procedures_.size());
  MessageReader reader(definition);
  const std::string_view setup = reader.text(), parameters = reader.text(), body = reader.text();
  std::string problem = run(fmt::format("{}proc {} {{{}}} {{\n{}\n}}\n", setup, made, parameters, body));
  if (!problem.empty()) return std::unexpected(std::move(problem));
  return name = made;
}

TclInterpreter::TextOutcome TclInterpreter::call(std::string_view request) {
  MessageReader reader(request);
  left_by_.clear();
  blobs_.clear();
  if (reader.letter() != 'c') return std::unexpected("Tcl: the request makes no sense");
  function_ = reader.text();
  std::string definition;
  for (int part = 0; part < 3; ++part) put(definition, reader.text());
  const TextOutcome name = procedure(definition);
  if (!name) return name;
  std::vector<ForeignFormal> outputs;
  for (std::int64_t left = reader.number(); left > 0 && reader.is_ok(); --left) {
    ForeignFormal& output = outputs.emplace_back();
    output.name = reader.text();
    output.type = take_type(reader);
  }
  Tcl_Obj* command = api_.Tcl_NewListObj(0, nullptr);
  api_.Tcl_ListObjAppendElement(nullptr, command, object_of(*name));
  for (std::int64_t left = reader.number(); left > 0 && reader.is_ok(); --left)
    api_.Tcl_ListObjAppendElement(nullptr, command, take_value(reader));
  has_given_ = false;
  const bool is_good = evaluate(command);
  if (std::string problem = problem_of(is_good); !problem.empty()) return std::unexpected(std::move(problem));
  const auto results = list(api_.Tcl_GetObjResult(interpreter_));
  std::string answer;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [output, type, rank] = outputs[i];
    if (type.kind == ValueKind::void_) {
      answer += 'v';
      continue;
    }
    if (!has_given_ || !results || results->size() != outputs.size())
      return std::unexpected(
          fmt::format("output `{}` is taken at the end of the code, which `return` has left before", output));
    if (const std::string problem = put_value(answer, (*results)[i], type); !problem.empty())
      return std::unexpected(fmt::format("output `{}`: {}", output, problem));
  }
  return answer;
}

/// Scalars as text, arrays and structures as dictionaries, bags as lists, files as {path references is_mapped}, blobs
/// as {address length}.
Tcl_Obj* TclInterpreter::take_value(MessageReader& reader) {
  const char letter = reader.letter();
  switch (letter) {
    case 'i': return object_of(std::to_string(reader.number()));
    case 'f': return object_of(to_text(Value::of(std::bit_cast<double>(reader.number()))));
    case 'b': return object_of(reader.number() != 0 ? "1" : "0");
    case 's': return object_of(reader.text());
    case 'B': {
      const std::string& bytes = blobs_.emplace_back(reader.text());
      return object_of(fmt::format("{} {}", reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size()));
    }
    case 'F':
    case 'a':
    case 'g':
    case 't': break;
    default: return object_of("");
  }
  Tcl_Obj* list = api_.Tcl_NewListObj(0, nullptr);
  const auto append = [&](Tcl_Obj* element) { api_.Tcl_ListObjAppendElement(nullptr, list, element); };
  if (letter == 'F') {
    append(object_of(reader.text()));
    append(object_of("1"));
    append(object_of(reader.number() != 0 ? "1" : "0"));
    return list;
  }
  for (std::int64_t left = reader.number(); left > 0 && reader.is_ok(); --left) {
    if (letter == 'a') append(take_value(reader));
    if (letter == 't') append(object_of(reader.text()));
    append(take_value(reader));
  }
  return list;
}

std::string TclInterpreter::put_value(std::string& to, Tcl_Obj* object, const ForeignType& type) {
  const auto wrong = [&](const char* wanted) { return fmt::format("`{}` is no {}", text_of(object), wanted); };
  switch (type.kind) {
    case ValueKind::int_:
    case ValueKind::int32: {
      long value = 0;
      if (api_.Tcl_GetWideIntFromObj(nullptr, object, &value) != tcl_ok) return wrong("int");
      if (type.kind == ValueKind::int32 && !std::in_range<std::int32_t>(value)) return wrong("int32");
      to += 'i';
      put(to, std::int64_t{value});
      return {};
    }
    case ValueKind::float_:
    case ValueKind::float32: {
      double value = 0;
      if (api_.Tcl_GetDoubleFromObj(nullptr, object, &value) != tcl_ok) return wrong("float");
      to += 'f';
      put(to, std::bit_cast<std::int64_t>(value));
      return {};
    }
    case ValueKind::boolean: {
      int value = 0;
      if (api_.Tcl_GetBooleanFromObj(nullptr, object, &value) != tcl_ok) return wrong("boolean");
      to += 'b';
      put(to, std::int64_t{value != 0});
      return {};
    }
    case ValueKind::string:
      to += 's';
      put(to, text_of(object));
      return {};
    case ValueKind::array: return put_array(to, object, type);
    case ValueKind::bag: return put_bag(to, object, type);
    case ValueKind::structure: return put_structure(to, object, type);
    case ValueKind::blob: {
      const auto bytes = bytes_of(object);
      if (!bytes) return wrong("blob: an address and a length");
      to += 'B';
      put(to, *bytes);
      return {};
    }
    case ValueKind::file: {
      const auto parts = list(object);
      if (!parts || parts->empty()) return wrong("file");
      to += 'F';
      put(to, text_of(parts->front()));
      put(to, std::int64_t{1});
      return {};
    }
    case ValueKind::none:
    case ValueKind::void_:
    case ValueKind::updateable:
    case ValueKind::failure: break;
  }
  to += 'v';
  return {};
}

std::string TclInterpreter::put_array(std::string& to, Tcl_Obj* object, const ForeignType& type) {
  const auto parts = list(object);
  if (!parts || parts->size() % 2 != 0) return "an array is a dictionary: keys and values in turn";
  const ForeignType key_type{.kind = type.key, .element = {}};
  to += 'a';
  put(to, static_cast<std::int64_t>(parts->size() / 2));
  for (std::size_t i = 0; i < parts->size(); ++i)
    if (std::string problem = put_value(to, (*parts)[i], i % 2 == 0 ? key_type : type.element[0]); !problem.empty())
      return problem;
  return {};
}

std::string TclInterpreter::put_bag(std::string& to, Tcl_Obj* object, const ForeignType& type) {
  const auto elements = list(object);
  if (!elements) return "a bag is a list";
  to += 'g';
  put(to, static_cast<std::int64_t>(elements->size()));
  for (Tcl_Obj* element : *elements)
    if (std::string problem = put_value(to, element, type.element[0]); !problem.empty()) return problem;
  return {};
}

std::string TclInterpreter::put_structure(std::string& to, Tcl_Obj* object, const ForeignType& type) {
  const auto parts = list(object);
  if (!parts || parts->size() % 2 != 0) return "a structure is a dictionary: names and values in turn";
  to += 't';
  put(to, static_cast<std::int64_t>(type.fields.size()));
  for (std::size_t field = 0; field < type.fields.size(); ++field) {
    Tcl_Obj* found = nullptr;
    for (std::size_t i = 0; i < parts->size(); i += 2)
      if (text_of((*parts)[i]) == type.fields[field]) found = (*parts)[i + 1];
    if (found == nullptr) return fmt::format("there is no field `{}`", type.fields[field]);
    put(to, type.fields[field]);
    if (std::string problem = put_value(to, found, type.element[field]); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace raddle::vm
