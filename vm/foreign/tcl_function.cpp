#include "vm/foreign/tcl_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

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

}  // namespace

TclFunction::TclFunction(const ForeignFunction& function) : function_(function), name_(new_name()) {
  std::string parameters, outputs;
  for (const ForeignFormal& file : function.files) parameters += fmt::format("u:{} ", file.name);
  for (const ForeignFormal& input : function.inputs) parameters += fmt::format("u:{} ", input.name);
  std::string checks;
  for (const ForeignFormal& output : function.outputs) {
    if (output.type.kind == ValueKind::void_) {
      outputs += " {}";
      continue;
    }
    checks += fmt::format("if {{![info exists u:{0}]}} {{ error {{output `{0}` was not set}} }}\n", output.name);
    outputs += fmt::format(" ${{u:{}}}", output.name);
  }
  if (function.library != "turbine") {
    definition_ = fmt::format("package require {{{}}} {{{}}}\n", function.library, function.version);
  }
  definition_ += fmt::format("proc {} {{{}}} {{\n{}\n{}return [list{}]\n}}\n", name_, parameters, body(function.code),
                             checks, outputs);
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
  const bool is_value = contains(function_.inputs, name) ? mark != '&' : mark == '$';
  return is_value ? fmt::format("${{u:{}}}", name) : fmt::format("u:{}", name);
}

std::expected<std::vector<Value>, std::string> TclFunction::call(std::span<const Value> inputs) {
  const auto interpreter = TclInterpreter::of_thread();
  if (!interpreter) return std::unexpected(interpreter.error());
  return (*interpreter)->call(name_, definition_, inputs, function_.outputs);
}

}  // namespace raddle::vm
