#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// Whether values may be long in coming: from programs, other languages, `sleep`.
bool waits_for_others(const Module& module);

}  // namespace raddle::ir
