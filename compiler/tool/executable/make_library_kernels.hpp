#pragma once

namespace raddle::tool {

/// The tool is called so, with a folder, when it is built.
inline constexpr const char* library_kernels_word = "-library-kernels";
/// Makes the code of the library's AppKernels that is not there, or of an earlier build: appkernel::LibraryCode.
/// @return exit code
int make_library_kernels(const char* folder);

}  // namespace raddle::tool
