#pragma once
// Which variables an instruction reads and assigns, whatever its form: for the diagnosis of stuck runs.
#include <functional>

#include "vm/program/program.hpp"

namespace raddle::vm {

using OperandVisitor = std::function<void(Operand)>;

/// Operands that the instruction or its strand waits for or passes on; not those of nested regions. Absent ones are
/// left out, constants are not.
void visit_inputs(const Program& program, const Instruction& in, const OperandVisitor& visit);

/// Variables that it or its nested regions assign. loop_test: none here, see LoopSite::results.
void visit_outputs(const Program& program, const Instruction& in, const OperandVisitor& visit);

/// Arrays and bags of which it holds a writer.
void visit_written(const Program& program, const Instruction& in, const OperandVisitor& visit);

}  // namespace raddle::vm
