#pragma once
// The text form of the IR; read_text reads it back: print(read_text(print(m))) == print(m).
//
//   struct person { string name; int[] ev; }              structures and distinct types that are used
//   type metres = float
//   entry @$program
//   function @f composite (%x: int !0:4-9) -> (%y: float) !0:0-80 {
//     var %z: float                                       declared here, assigned elsewhere (in a nested region)
//     %a: float = int_to_float %x !0:12-13                declared and assigned
//     if %c {
//       %z = add %a, 1.0
//     } {
//     }
//   }
//
// Before the `{`: `files N` (leading parameters that are file outputs), `demands_leaf`, `on_cpu`, `on_gpu`, `not_leaf
// "reason"`. After the operands of an operation, where it has them: `writers N`, `field N`, `mode incr`, `labels [1,
// 2]`, `types [int]`, `prio %p`, of a loop `test %c`, `next %a, %b`, `after` (test after the body), of a foreach
// `launch N`, `nest N`: the entry of its function's table (index_launch.hpp), which stands at the end of the function:
//     launch @f.launch captures %x projection @f.projection projected %n
//       read %a[#0, #1]                                   #0: the projection's first result
//       write %b[%k, point]
//       read %c[point times 2 plus %k plus -1]            affine in the point
//       incr %u
//     nest 0 @f.prelude captures %x values %y             0: the launch within
// An app's region ends with `command %word, ...` and `stdin %f`, `stdout %f`, `stderr %f`.
// Positions are `!FILE:BEGIN-END` in bytes; none means 0:0-0. Names of variables are unique within a function:
// a second `x` is printed `x.1`, nameless ones are numbers.
#include <string>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

enum class Positions : std::uint8_t { print, omit };

std::string print(const Module& module, Positions positions = Positions::print);
std::string print(const Module& module, const Function& function, Positions positions = Positions::print);

/// "mode" names of update operations, by Op::number.
inline constexpr const char* update_modes[] = {"incr", "min", "scale"};

}  // namespace raddle::ir
