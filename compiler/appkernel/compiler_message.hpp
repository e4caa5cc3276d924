#pragma once
#include <string>

namespace raddle::appkernel {

/// What a message of clang is about.
struct CompiledFile {
  std::string written;   ///< the kernel's file, as the script names it
  std::string absolute;  ///< as clang does
  std::string kernel;    ///< its name
  std::string folder;    ///< of our own files, which clang names, too
};

/// The first error and what belongs to it, in the words of who has written the script and the kernel.
/// @param text  what clang has printed
std::string compiler_message(const std::string& text, const CompiledFile& file);

/// Of a message of the compiler, or of ours, the line that says most.
std::string line_with_fault(const std::string& message);

}  // namespace raddle::appkernel
