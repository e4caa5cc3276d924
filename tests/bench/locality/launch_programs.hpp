#pragma once
// Programs of launches on a device and calls of the host: what has to be moved, and in how many messages.
#include <string>
#include <vector>

#include "vm/transfer/launch_window.hpp"

namespace raddle::locality {

struct LaunchProgram {
  std::string name;
  vm::LaunchWindow window;
};

/// Those of the published table, and its worked example.
/// Source: C. Kessler, "Global Optimization of Operand Transfer Fusion in Heterogeneous Computing", SCOPES 2019. Where
/// that leaves open what runs on the host: the additions of the product, POTRF, of CG the product with its matrix
std::vector<LaunchProgram> launch_programs();

/// Prints a line for each of them: transfers, messages by each way to fuse them, and what these take on a bus where a
/// message of N bytes takes 10 us + N / (12 GB/s), for vectors of 64 KiB.
void print_transfers();

}  // namespace raddle::locality
