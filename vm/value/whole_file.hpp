#pragma once
#include <sys/types.h>

#include <expected>
#include <functional>
#include <optional>
#include <string>

#include "vm/value/file_identity.hpp"

namespace raddle::vm {

/// Writes a file, whole or not at all: it is written beside its place and renamed, so that two who do so at once leave
/// one of their files and no mixture. A link stays one. What is no regular file, as a device, gets what there is, and
/// so does a file in a folder where nothing can be made. Its folder is made where it is missing.
/// @param mode  of a new file   @param fill  writes to the descriptor; returns 0 or an errno
/// @return      which file it is; none of what is no regular one   @error an errno
std::expected<std::optional<FileIdentity>, int> write_whole(const std::string& path, mode_t mode,
                                                            const std::function<int(int)>& fill);

}  // namespace raddle::vm
