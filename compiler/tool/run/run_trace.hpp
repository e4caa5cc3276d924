#pragma once
// `raddle run --trace=FILE`: the tasks of a script's run.
#include <string>
#include <vector>

#include "compiler/source/source_buffer.hpp"
#include "vm/interpret/task_trace.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// @param devices  what they have done
/// @return  false if it could not be written, which has been said
bool write_run_trace(const std::string& path, const std::string& script, const vm::TaskTrace& trace,
                     const vm::Program& program, const SourceMap& sources, const std::vector<vm::DeviceRow>& devices);

}  // namespace raddle::tool
