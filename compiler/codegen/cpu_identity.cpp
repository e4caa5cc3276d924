// LLVM is not loaded where this is asked, so the CPU is: for all words from which LLVM makes name and features.
#include "compiler/codegen/cpu_identity.hpp"

#include <cpuid.h>
#include <fmt/format.h>

namespace raddle::codegen {
namespace {

struct Question {
  unsigned leaf, subleaf;
  bool is_ebx_constant = true;  ///< else it has the number of the core, or the size of some state
};

constexpr Question questions[] = {
    {0, 0},    {1, 0, false}, {7, 0},    {7, 1},          {0xd, 1, false},
    {0x14, 0}, {0x19, 0},     {0x24, 0}, {0x80000001, 0}, {0x80000008, 0},
};
constexpr unsigned saves_state = 1U << 27;  // of leaf 1's ecx: xgetbv is there

}  // namespace

std::string cpu_identity() {
  std::string identity;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  for (const Question& question : questions) {
    if (__get_cpuid_count(question.leaf, question.subleaf, &eax, &ebx, &ecx, &edx) == 0) continue;
    identity +=
        fmt::format("{:x} {:x} {:x} {:x} {:x}\n", question.leaf, eax, question.is_ebx_constant ? ebx : 0, ecx, edx);
  }
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & saves_state) == 0) return identity;
  asm volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  return identity + fmt::format("{:x} {:x}\n", eax, edx);
}

}  // namespace raddle::codegen
