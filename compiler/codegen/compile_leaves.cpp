#include "compiler/codegen/compile_leaves.hpp"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/codegen/leaf_math.hpp"
#include "compiler/codegen/leaf_to_llvm.hpp"

namespace raddle::codegen {
namespace {

namespace orc = llvm::orc;

std::unexpected<std::string> failed(llvm::Error error) { return std::unexpected(llvm::toString(std::move(error))); }

llvm::Expected<orc::JITTargetMachineBuilder> host() {
  static const bool initialised = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  if (!initialised) return llvm::createStringError("LLVM does not know this machine");
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder) return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;  // Note [agreement] in leaf_to_llvm.cpp
  return builder;
}

/// The pipeline of -O3 for `target`.
void optimise(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.LoopInterleaving = true;
  tuning.SLPVectorization = true;
  tuning.LoopUnrolling = true;
  llvm::PassBuilder builder(&target, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cycles;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cycles);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cycles, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

std::expected<void, std::string> generate(const LeafSource& source, std::span<const ir::FunctionId> leaves,
                                          const llvm::TargetMachine& target, llvm::Module& out) {
  out.setDataLayout(target.createDataLayout());
  out.setTargetTriple(target.getTargetTriple().str());
  if (auto made = leaves_to_llvm(source, leaves, out); !made) return made;
  std::string faults;
  llvm::raw_string_ostream stream(faults);
  if (llvm::verifyModule(out, &stream)) return std::unexpected("LLVM refuses the code made: " + faults);
  return {};
}

/// What compiled code may call: our own symbols, then what its C library offers (memset and the like).
llvm::Error define_symbols(orc::LLJIT& jit) {
  orc::SymbolMap symbols;
  const auto define = [&](const std::string& name, const void* address) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  for (const MathFunction& function : math_functions()) define(math_symbol(function.name), function.address);
  if (auto error = jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)))) return error;
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit.getDataLayout().getGlobalPrefix());
  if (!process) return process.takeError();
  jit.getMainJITDylib().addGenerator(std::move(*process));
  return llvm::Error::success();
}

}  // namespace

struct LeafJit::State {
  LeafSource source;
  std::unique_ptr<llvm::TargetMachine> target;
  std::unique_ptr<orc::LLJIT> jit;
};

LeafJit::LeafJit(std::unique_ptr<State> state) : state_(std::move(state)) {}
LeafJit::~LeafJit() = default;

std::expected<std::unique_ptr<LeafJit>, std::string> LeafJit::create(const LeafSource& source) {
  auto machine = host();
  if (!machine) return failed(machine.takeError());
  auto target = machine->createTargetMachine();
  if (!target) return failed(target.takeError());
  auto jit = orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*machine))
                 .setPlatformSetUp(orc::setUpInactivePlatform)  // leaves have no static constructors to run
                 .setLinkProcessSymbolsByDefault(false)
                 .create();
  if (!jit) return failed(jit.takeError());
  if (auto error = define_symbols(**jit)) return failed(std::move(error));
  return std::unique_ptr<LeafJit>(
      new LeafJit(std::make_unique<State>(State{source, std::move(*target), std::move(*jit)})));
}

std::expected<raddle_leaf_function, std::string> LeafJit::compile(ir::FunctionId leaf) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>(exported_name(leaf), *context);
  const ir::FunctionId leaves[] = {leaf};
  if (auto made = generate(state_->source, leaves, *state_->target, *module); !made) {
    return std::unexpected(made.error());
  }
  optimise(*module, *state_->target);
  if (auto error = state_->jit->addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context)))) {
    return failed(std::move(error));
  }
  auto address = state_->jit->lookup(exported_name(leaf));
  if (!address) return failed(address.takeError());
  return address->toPtr<raddle_leaf_function>();
}

std::expected<std::string, std::string> llvm_text(const LeafSource& source, LlvmText form) {
  auto machine = host();
  if (!machine) return failed(machine.takeError());
  auto target = machine->createTargetMachine();
  if (!target) return failed(target.takeError());
  std::string text;
  llvm::raw_string_ostream stream(text);
  std::vector<ir::FunctionId> leaves;
  for (ir::FunctionId id = 0; id < source.module->functions.size(); ++id) {
    if (source.module->functions[id].kind != ir::FunctionKind::leaf) continue;
    llvm::LLVMContext scratch_context;
    llvm::Module scratch("scratch", scratch_context);
    const ir::FunctionId alone[] = {id};
    if (auto made = generate(source, alone, **target, scratch); made) {
      leaves.push_back(id);
    } else {
      stream << "; " << source.module->functions[id].name << ": not compiled: " << made.error() << "\n";
    }
  }
  llvm::LLVMContext context;
  llvm::Module module("leaves", context);
  if (auto made = generate(source, leaves, **target, module); !made) return std::unexpected(made.error());
  if (form == LlvmText::optimised) optimise(module, **target);
  module.print(stream, nullptr);
  return text;
}

}  // namespace raddle::codegen
