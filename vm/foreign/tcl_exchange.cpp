// 'c' a call: name of the function in the script; Tcl that comes before its definition, its parameters, its body; how
//     many outputs, then the name and type of each; how many inputs, then each
// 'd' code in another language is done: whether it went well, its result or the text of its error
//
// 'r' results   'e' text of an error   'q' code in another language is to be run: function, whether exceptions are
//     errors, code, expression, rank
#include "vm/foreign/tcl_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "vm/foreign/value_message.hpp"

namespace raddle::vm {

namespace {

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

/// The package, loaded where it is needed first.
std::string setup_of(const ForeignFunction& function, const TclHost& host) {
  if (function.library == "turbine") return {};
  std::string setup;
  for (const std::string& folder : host.package_folders)
    setup += fmt::format("::raddle::look_in {}\n", tcl_word(folder));
  return setup + fmt::format("package require {} {}\n", tcl_word(function.library), tcl_word(function.version));
}

/// @param mark  what stands before `<<`: `$`, `&` or 0
std::string place_holder(const ForeignFunction& function, std::string_view name, char mark) {
  const bool is_varargs = !name.empty() && name == function.varargs;
  const bool is_value = is_varargs || contains(function.inputs, name) ? mark != '&' : mark == '$';
  if (is_varargs && is_value) return fmt::format("{{*}}${{u:{}}}", name);
  return is_value ? fmt::format("${{u:{}}}", name) : fmt::format("u:{}", name);
}

std::string filled_template(const ForeignFunction& function) {
  const std::string& code = function.code;
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
    text += place_holder(function, std::string_view(code).substr(open + 2, close - open - 2), mark);
    i = close + 1;
  }
  return text;
}

ServerExchange::Problem with_help(std::string message) {
  FailureNotes notes;
  if (message.starts_with("can't find package "))
    notes.help =
        "its `pkgIndex.tcl` is looked for beside the script, in folders of `-r`, `-I` and TCLLIBPATH, and in those in "
        "them";
  return {std::move(message), std::move(notes)};
}

struct Procedure {
  std::string parameters, body;
};

/// What a variable number of inputs holds comes as Tcl's `args`.
Procedure template_procedure(const ForeignFunction& function) {
  std::string parameters, start;
  for (const ForeignFormal& file : function.files) parameters += fmt::format("u:{} ", file.name);
  for (const ForeignFormal& input : function.inputs)
    if (input.name != function.varargs) parameters += fmt::format("u:{} ", input.name);
  if (!function.varargs.empty()) {
    parameters += "args";
    start = fmt::format("set u:{} $args\n", function.varargs);
  }
  std::string checks, outputs;
  for (const ForeignFormal& output : function.outputs) {
    if (output.type.kind == ValueKind::void_) {
      outputs += " {}";
      continue;
    }
    checks += fmt::format("if {{![info exists u:{0}]}} {{ error {{output `{0}` was not set}} }}\n", output.name);
    outputs += fmt::format(" ${{u:{}}}", output.name);
  }
  return {parameters, fmt::format("{}{}\n{}::raddle::give{}", start, filled_template(function), checks, outputs)};
}

Procedure package_procedure(const ForeignFunction& function) {
  std::string outputs;
  for (const std::string& name : function.declared_outputs) {
    const auto output = std::ranges::find(function.outputs, name, &ForeignFormal::name);
    const bool is_void = output != function.outputs.end() && output->type.kind == ValueKind::void_;
    outputs += fmt::format("{{{} {}}} ", name, output == function.outputs.end() ? "file" : is_void ? "void" : "value");
  }
  return {"args", fmt::format("::raddle::call {} {} {{{}}} $args", tcl_word(function.library), tcl_word(function.code),
                              outputs)};
}

}  // namespace

std::expected<std::string, std::string> TclExchange::request(std::span<const Value> inputs) {
  const bool is_template = function_.kind == ForeignKind::tcl_template;
  const Procedure procedure = is_template ? template_procedure(function_) : package_procedure(function_);
  std::string message = "c";
  for (const std::string& text : {function_.name, setup_of(function_, host_), procedure.parameters, procedure.body})
    put(message, text);
  put(message, static_cast<std::int64_t>(function_.outputs.size()));
  for (const ForeignFormal& output : function_.outputs) {
    put(message, output.name);
    put_type(message, output.type);
  }
  put(message, static_cast<std::int64_t>(inputs.size()));
  for (const Value& input : inputs) put_value(message, input);
  return message;
}

std::optional<std::string> TclExchange::go_on(const std::string& answer) {
  MessageReader reader(answer);
  if (reader.letter() != 'q') return std::nullopt;
  CodeRequest request;
  request.function = reader.text();
  request.exceptions_are_errors = reader.number() != 0;
  request.code = reader.text();
  request.expression = reader.text();
  request.rank = {static_cast<std::int32_t>(reader.number()), true};
  const auto outcome = host_.run_code(request);
  std::string message = "d";
  put(message, std::int64_t{outcome.has_value()});
  put(message, outcome ? *outcome : outcome.error());
  return message;
}

std::expected<std::vector<Value>, ServerExchange::Problem> TclExchange::finish(const std::string& answer) {
  MessageReader reader(answer);
  const char letter = reader.letter();
  if (letter == 'e') return std::unexpected(with_help(std::string(reader.text())));
  std::vector<Value> outputs;
  for (const ForeignFormal& output : function_.outputs) outputs.push_back(take_value(reader, output.type));
  if (letter != 'r' || !reader.is_ok()) return std::unexpected(Problem{"Tcl: its answer makes no sense"});
  return outputs;
}

}  // namespace raddle::vm
