#pragma once
#include <optional>
#include <string>
#include <vector>

namespace raddle::appkernel {

/// What is known to be wrong with a kernel's name before its file is compiled.
struct KernelFault {
  std::string text;  ///< "can not read `a.cu`: no such file or directory"
  std::string wanted;
  std::vector<std::string> names;  ///< what there is in its place: files of the library, or the file's kernels
};

/// Files are searched for the name as a word, so that one which they have in a comment is found, too. Where they
/// include what is not found beside them, or paste names together, the name is left to the compiler.
/// @param file  `<name>` is the library's
std::optional<KernelFault> fault_of_kernel(const std::string& file, const std::string& kernel);

}  // namespace raddle::appkernel
