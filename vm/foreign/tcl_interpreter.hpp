#pragma once
// One Tcl interpreter for each thread that runs Tcl: Tcl binds them to the thread that made them.
#include <deque>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>

#include "vm/foreign/foreign_code.hpp"
#include "vm/foreign/tcl_api.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

class TclInterpreter {
 public:
  /// Of the calling thread, made at its first call.
  /// @param host  of the calls that follow
  /// @return      the text of the error: no libtcl, or Tcl did not start
  static std::expected<TclInterpreter*, std::string> of_thread(const ForeignHost& host);
  ~TclInterpreter();

  /// @return  the text of an error, or ""
  std::string run(const std::string& script);
  /// Runs `function` by its generated definition, which is evaluated at the first call.
  /// @param definition  Tcl that defines the procedure `name`
  /// @param values      get the outputs, converted to the types of `outputs`
  /// @return            as ForeignCode::call
  std::string call(const std::string& name, const std::string& definition, std::span<const Value> inputs,
                   const std::vector<ForeignFormal>& outputs, std::span<Value> values);

 private:
  explicit TclInterpreter(const TclApi& api);
  /// `::raddle::give VALUE..`: the outputs of a call. In C++, as scripts may replace Tcl's own `list`.
  static int give(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  /// `::raddle::run_code FUNCTION EXCEPTIONS_ARE_ERRORS CODE EXPRESSION`: in another language.
  static int run_code(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  /// `::raddle::blob TEXT`: address and length of its bytes, which live as long as the call; `::raddle::text {ADDRESS
  /// LENGTH}`.
  static int blob(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  static int text(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  /// `::raddle::setenv NAME ?VALUE?`: of the process; without a value it is taken out.
  static int set_variable(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  /// `::raddle::left CODE`: the code has called `exit`.
  static int left(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  void set_result(std::string_view text);
  bool evaluate(Tcl_Obj* script);
  std::string result_text();
  /// Of what was evaluated; "": none.
  std::string problem_of(bool is_good);
  std::string text_of(Tcl_Obj* object);
  /// The elements of a list; nullopt if it is none.
  std::optional<std::span<Tcl_Obj* const>> list(Tcl_Obj* object);
  Tcl_Obj* to_tcl(const Value& value);
  std::expected<Value, std::string> from_tcl(Tcl_Obj* object, const ForeignType& type);
  std::expected<Value, std::string> array_from_tcl(Tcl_Obj* object, const ForeignType& type);
  std::expected<Value, std::string> bag_from_tcl(Tcl_Obj* object, const ForeignType& type);
  std::expected<Value, std::string> structure_from_tcl(Tcl_Obj* object, const ForeignType& type);
  std::expected<Value, std::string> blob_from_tcl(Tcl_Obj* object);

  const TclApi& api_;
  Tcl_Interp* interpreter_;
  std::unordered_set<std::string> defined_;
  const ForeignHost* host_ = nullptr;  ///< of the present call
  std::deque<std::string> blobs_;      ///< that it has made
  bool has_given_ = false;             ///< the call has come to its end
  std::string left_by_;                ///< "exit 3": it has called that
};

}  // namespace raddle::vm
