#pragma once
// The Tcl interpreter of a rank, in a process of its own.
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "vm/foreign/message.hpp"
#include "vm/foreign/tcl_api.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

class TclInterpreter {
 public:
  using TextOutcome = std::expected<std::string, std::string>;
  /// Runs code in another language. @param request  'q', as tcl_exchange.cpp has it
  using RunCode = std::function<TextOutcome(const std::string& request)>;

  /// @return  the text of the error: no libtcl, or Tcl did not start
  static std::expected<std::unique_ptr<TclInterpreter>, std::string> make(int rank, int workers, RunCode run_code = {});
  ~TclInterpreter();

  /// @return  the text of an error, or ""
  std::string run(const std::string& script);
  /// @param request  as tcl_exchange.cpp has it; nothing of it is trusted   @return the outputs, or the text of an
  /// error
  TextOutcome call(std::string_view request);

 private:
  TclInterpreter(const TclApi& api, int rank, RunCode run_code);
  /// `::raddle::give VALUE..`: the outputs of a call. In C++, as scripts may replace Tcl's own `list`.
  static int give(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  /// `::raddle::run_code FUNCTION EXCEPTIONS_ARE_ERRORS CODE EXPRESSION`: in another language.
  static int run_code(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  /// `::raddle::blob TEXT`: address and length of its bytes, which live as long as the call; `::raddle::text {ADDRESS
  /// LENGTH}`.
  static int blob(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  static int text(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  /// `::raddle::left CODE`: the code has called `exit`.
  static int left(void* interpreter, Tcl_Interp* tcl, int count, Tcl_Obj* const* words);
  void set_result(std::string_view text);
  bool evaluate(Tcl_Obj* script);
  std::string result_text();
  /// Of what was evaluated; "": none.
  std::string problem_of(bool is_good);
  std::string text_of(Tcl_Obj* object);
  Tcl_Obj* object_of(std::string_view text);
  /// The elements of a list; nullopt if it is none.
  std::optional<std::span<Tcl_Obj* const>> list(Tcl_Obj* object);
  /// The bytes of a blob, {address length}; nullopt if it is none.
  std::optional<std::string_view> bytes_of(Tcl_Obj* object);
  TextOutcome procedure(const std::string& definition);
  Tcl_Obj* take_value(MessageReader& reader);
  // Each returns the text of an error, or "":
  std::string put_value(std::string& to, Tcl_Obj* object, const ForeignType& type);
  std::string put_array(std::string& to, Tcl_Obj* object, const ForeignType& type);
  std::string put_bag(std::string& to, Tcl_Obj* object, const ForeignType& type);
  std::string put_structure(std::string& to, Tcl_Obj* object, const ForeignType& type);

  const TclApi& api_;
  const int rank_;
  const RunCode run_code_;
  Tcl_Interp* interpreter_;
  std::unordered_map<std::string, std::string> procedures_;  ///< by their definition: names
  std::deque<std::string> blobs_;                            ///< of the present call
  bool has_given_ = false;                                   ///< the call has come to its end
  std::string function_;                                     ///< that is called
  std::string left_by_;                                      ///< "exit 3": it has called that
};

}  // namespace raddle::vm
