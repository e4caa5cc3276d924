#pragma once
// The folder in which records lie, and what all databases in it have in common.
#include <cstdint>
#include <string>

#include "vm/record/database.hpp"

namespace raddle::vm {

/// Where the records of this folder lie.
inline constexpr const char* record_folder = ".raddle";

/// Where files of a run lie. @param id  of the run
std::string folder_of_run(const std::string& id);

/// @throws RecordError
void make_record_folder();

/// Others may read while one writes. @throws RecordError
void use_write_ahead_log(Database& database);

/// 0: it has no tables yet. @throws RecordError
std::int64_t format_of(Database& database);

}  // namespace raddle::vm
