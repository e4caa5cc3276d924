#include "vm/foreign/tcl_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>

#include "vm/foreign/tcl_interpreter.hpp"

namespace raddle::vm {

namespace {

// Threads' interpreters outlive a run: names are never used twice.
std::string new_name() {
  static std::atomic<unsigned> count{0};
  return fmt::format("raddle_function_{}", count.fetch_add(1, std::memory_order_relaxed));  // relaxed: only unique
}

bool contains(const std::vector<ForeignFormal>& formals, std::string_view name) {
  return std::ranges::any_of(formals, [name](const ForeignFormal& formal) { return formal.name == name; });
}

/// `text` as one word of a Tcl command.
std::string tcl_word(std::string_view text) {
  if (text.empty()) return "{}";
  std::string word;
  for (const char c : text) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0;
    if (c == '\n') {
      word += "\\n";
    } else {
      word += is_plain ? std::string(1, c) : std::string{'\\', c};
    }
  }
  return word;
}

}  // namespace

TclFunction::TclFunction(const ForeignFunction& function, const ForeignHost& host)
    : ForeignCode(function), host_(host), name_(new_name()) {
  if (function.library != "turbine") {
    for (const std::string& folder : host.package_folders)
      definition_ += fmt::format("::raddle::look_in {}\n", tcl_word(folder));
    definition_ += fmt::format("package require {} {}\n", tcl_word(function.library), tcl_word(function.version));
  }
  definition_ += function.kind == ForeignKind::tcl_procedure ? procedure_definition() : template_definition();
}

/// What a variable number of inputs holds comes as Tcl's `args`.
std::string TclFunction::template_definition() const {
  std::string parameters, start;
  for (const ForeignFormal& file : function_.files) parameters += fmt::format("u:{} ", file.name);
  for (const ForeignFormal& input : function_.inputs)
    if (input.name != function_.varargs) parameters += fmt::format("u:{} ", input.name);
  if (!function_.varargs.empty()) {
    parameters += "args";
    start = fmt::format("set u:{} $args\n", function_.varargs);
  }
  std::string checks, outputs;
  for (const ForeignFormal& output : function_.outputs) {
    if (output.type.kind == ValueKind::void_) {
      outputs += " {}";
      continue;
    }
    checks += fmt::format("if {{![info exists u:{0}]}} {{ error {{output `{0}` was not set}} }}\n", output.name);
    outputs += fmt::format(" ${{u:{}}}", output.name);
  }
  return fmt::format("proc {} {{{}}} {{\n{}{}\n{}::raddle::give{}\n}}\n", name_, parameters, start,
                     body(function_.code), checks, outputs);
}

std::string TclFunction::procedure_definition() const {
  std::string outputs;
  for (const std::string& name : function_.declared_outputs) {
    const auto of_name = [&](const ForeignFormal& formal) { return formal.name == name; };
    const auto output = std::ranges::find_if(function_.outputs, of_name);
    const bool is_void = output != function_.outputs.end() && output->type.kind == ValueKind::void_;
    outputs += fmt::format("{{{} {}}} ", name, output == function_.outputs.end() ? "file" : is_void ? "void" : "value");
  }
  return fmt::format("proc {} args {{ ::raddle::call {} {} {{{}}} $args }}\n", name_, tcl_word(function_.library),
                     tcl_word(function_.code), outputs);
}

std::string TclFunction::body(const std::string& code) const {
  std::string text;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '\\' && i + 1 < code.size()) {
      text += code[++i];
      continue;
    }
    const char mark = code[i] == '$' || code[i] == '&' ? code[i] : '\0';
    const std::size_t open = i + (mark != 0 ? 1 : 0);
    const std::size_t close = code.compare(open, 2, "<<") == 0 ? code.find(">>", open) : std::string::npos;
    if (close == std::string::npos) {
      text += code[i];
      continue;
    }
    text += place_holder(std::string_view(code).substr(open + 2, close - open - 2), mark);
    i = close + 1;
  }
  return text;
}

/// @param mark  what stands before `<<`: `$`, `&` or 0
std::string TclFunction::place_holder(std::string_view name, char mark) const {
  const bool is_varargs = !name.empty() && name == function_.varargs;
  const bool is_value = is_varargs || contains(function_.inputs, name) ? mark != '&' : mark == '$';
  if (is_varargs && is_value) return fmt::format("{{*}}${{u:{}}}", name);
  return is_value ? fmt::format("${{u:{}}}", name) : fmt::format("u:{}", name);
}

std::string TclFunction::call(std::span<const Value> inputs, std::span<Value> outputs) {
  const OpenCall open(function_);
  const auto interpreter = TclInterpreter::of_thread(host_);
  if (!interpreter) return interpreter.error();
  return (*interpreter)->call(name_, definition_, inputs, function_.outputs, outputs);
}

}  // namespace raddle::vm
