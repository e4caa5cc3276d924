#pragma once
// Rows that are found to be what was written: each has a digest of its columns. One that does not fit is damaged, as by
// a disk, and counts as not there.
#include "vm/record/database.hpp"

namespace raddle::vm {

enum class Digests : std::uint8_t {
  checked,
  none,  ///< the rows have none: of an earlier format, which may only be read
};

/// Makes functions of SQL: `digest(..)` of any values, and `is_intact(digest, ..)`, which says whether it is theirs.
/// @throws RecordError
void add_digest_functions(Database& database, Digests digests);

/// Whether this process has met a row that was not intact. Any thread.
bool has_met_damage();

}  // namespace raddle::vm
