#pragma once
// What leaves in machine code call to reduce numbers that they compute: Note [reduced stretches] in
// vm/program/leaf_abi.hpp.
#include <cstdint>

#include "vm/program/leaf_abi.hpp"

namespace raddle::vm {

/// raddle_leaf_worker::reduce. Numbers are computed and reduced in blocks of 256, which lie on the stack: those of an
/// array with the same numbers, so the result has the same bits. A number that can not be computed, or numbers that
/// come to nothing (there are none of which to take the mean): raddle_leaf_domain_error, the call is to be interpreted.
/// So it is by raddle_leaf_shareable if there are many numbers and some worker has nothing to do: the loop over them is
/// a launch then, in which all can take part. Threads: the worker's.
std::int32_t reduce_points(raddle_leaf_worker* worker, const raddle_leaf_reduction* what, std::int64_t count,
                           std::int64_t* words, std::int64_t* result, raddle_leaf_failure* failure);

}  // namespace raddle::vm
