#pragma once
// Files that a program is writing in place, told to the other runs of this folder: what two write at once is a mixture,
// and of what another one has written nobody could say whose it is.
#include <memory>
#include <string>

namespace raddle::vm {

/// Whoever has it writes the file, until the last copy is gone; null: somebody else has it. Any thread.
using FileClaim = std::shared_ptr<const void>;

/// A lock of the system's on a byte of `.raddle/writes`: it is gone with the process, however that ends. Where there
/// can be none, nothing keeps runs apart. @param place  file_place()
FileClaim claim_file(const std::string& place);
/// Whether anybody has ever claimed one in this folder: else who puts a whole file in its place need not.
bool has_file_claims();

}  // namespace raddle::vm
