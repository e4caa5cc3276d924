#pragma once
namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace raddle::codegen {

/// The pipeline of -O3 for `target`.
void optimise(llvm::Module& module, llvm::TargetMachine& target);

}  // namespace raddle::codegen
