#pragma once
// The end of a process that finds no memory.
#include <string>

namespace raddle {
class SourceMap;
}

namespace raddle::tool {

/// Texts of the scripts that run, for places in messages of a process that ends from below; they are there as long as
/// those run, and no other is added meanwhile.
void tell_places_in(const SourceMap& sources);
/// Every allocation that fails ends the process, whoever asks for it: by a message and exit code 1.
void end_where_memory_ends();
[[noreturn]] void end_out_of_memory();
/// @param why  a sentence without its end
[[noreturn]] void end_out_of_memory(const std::string& why);

}  // namespace raddle::tool
