#pragma once
// A call whose results are kept on disk.
#include "compiler/emit/function_plan.hpp"
#include "compiler/emit/operand_map.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

/// Of `memo` without the arm that is entered where nothing has been kept.
/// @param op  a memo or memo_keep
vm::MemoSite memo_site(const FunctionPlan& plan, const ir::Op& op, const OperandMap& operands, std::uint32_t body);

}  // namespace raddle::emit
