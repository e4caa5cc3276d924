#pragma once
// What the card is, and what its driver's functions cost.
#include <string>
#include <vector>

#include "tests/bench/gpu/bench_card.hpp"

namespace raddle::gpu::bench {

void tell_facts(const BenchCard& card);
/// Launches, nodes of a graph, memory, copies, questions through host memory. @param is_small  to see that it runs
void measure_driver(const BenchCard& card, bool is_small);
/// How long the driver takes to compile each file of PTX, and which registers its kernel has.
void measure_modules(const BenchCard& card, const std::vector<std::string>& files);

}  // namespace raddle::gpu::bench
