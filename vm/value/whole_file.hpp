#pragma once
#include <sys/types.h>

#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "vm/value/file_identity.hpp"

namespace raddle::vm {

/// Writes a file, whole or not at all: it is written beside its place and renamed, so that two who do so at once leave
/// one of their files and no mixture. A link stays one, and a file that is replaced keeps its permissions. What is no
/// regular file, as a device, gets what there is, and so does a file that has several names, or lies in a folder where
/// nothing can be made. Streams get it behind what was written to them. The folder is made where it is missing.
/// @param mode  of a new file   @param fill  writes to the descriptor; returns 0 or an errno
/// @return      which file it is; none of a stream and of what is no regular one   @error an errno
std::expected<std::optional<FileIdentity>, int> write_whole(const std::string& path, mode_t mode,
                                                            const std::function<int(int)>& fill);

/// Whether it names what a process has open, as `/dev/stdout` or a link to it, even if that is a regular file.
bool is_stream(const std::string& path);
/// Which descriptor of this process it names. Opened by its name a file would be emptied, or read and written from its
/// beginning. @return -1: none
int own_stream(const std::string& path);

/// The name of what a path leads to, through the links of its last part, also if that is not there yet.
/// @param visit  called with each name on the way, the first one and the last, too; returns false to end it
void follow_links(std::filesystem::path path, const std::function<bool(const std::filesystem::path&)>& visit);
/// For who is about to write: what it leads to. @error  an errno; EACCES: a link on the way may be somebody else's trap
std::expected<std::filesystem::path, int> target_of_links(const std::filesystem::path& path);

}  // namespace raddle::vm
