#pragma once
// From text to results, the first half: the stages as calls in that order. Read this first.
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "compiler/check/check.hpp"
#include "compiler/check/checked_program.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/ir/module.hpp"
#include "compiler/source/expanded_text.hpp"

namespace raddle::tool {

/// Keeps what later stages point into.
struct Compilation {
  std::unique_ptr<CheckedProgram> checked;
  ir::Module module;
};

/// A text that is compiled as if it were a script's.
struct TextToCompile {
  const ExpandedText* text = nullptr;  ///< null: the file's own, which is yet to be preprocessed
  std::string entry = "";  ///< a function that the program begins with, in place of the statements outside of functions
  /// Changes the IR before it is optimised; may be empty.
  std::function<void(const CheckedProgram&, ir::Module&)> prepare = {};
  const SessionPiece* piece = nullptr;  ///< it is one of an interactive session
};

/// Parses, checks and loads what `file` imports. Findings go to the session's sink.
/// @return nullptr if there were errors
std::unique_ptr<CheckedProgram> check_file(Session& session, std::uint32_t file, const TextToCompile& what = {});

/// All of it: text to optimised IR.
/// @return nothing if there were errors
std::optional<Compilation> compile(Session& session, std::uint32_t file, const TextToCompile& what = {});

}  // namespace raddle::tool
