#include "compiler/codegen/math_to_llvm.hpp"

#include <span>
#include <string>
#include <vector>

#include "compiler/codegen/ir_number.hpp"
#include "vm/math/functions.hpp"

namespace raddle::vm::math {
namespace {

/// The table that `element` is in, as a constant of the module.
template <typename T>
struct Table {
  const char* name;
  std::span<const T> numbers;
};
constexpr Table<double> number_tables[] = {{"exp2_table", exp2_table},
                                           {"log_table", log_table},
                                           {"atan_table", atan_table},
                                           {"erfc_table", erfc_table},
                                           {"lgamma_table", lgamma_table}};
constexpr Table<uint64_t> word_tables[] = {{"two_over_pi", two_over_pi_bits}};

template <typename T>
llvm::Value* load_from(std::span<const Table<T>> tables, const T* element, llvm::Value* index, llvm::Type* type) {
  for (const Table<T>& table : tables) {
    const std::uint64_t offset = static_cast<std::uint64_t>(element - table.numbers.data());
    if (element < table.numbers.data() || offset >= table.numbers.size()) continue;
    llvm::Module& module = *ir_builder->GetInsertBlock()->getModule();
    llvm::GlobalVariable* constant = module.getNamedGlobal(table.name);
    if (constant == nullptr) {
      llvm::Constant* content = llvm::ConstantDataArray::get(
          module.getContext(), llvm::ArrayRef<T>(table.numbers.data(), table.numbers.size()));
      constant = llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal(table.name, content->getType()));
      constant->setInitializer(content);
      constant->setConstant(true);
      constant->setLinkage(llvm::GlobalValue::PrivateLinkage);
      constant->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    }
    llvm::Value* at = ir_builder->CreateAdd(index, llvm::ConstantInt::get(ir_word, offset));
    llvm::Value* address = ir_builder->CreateInBoundsGEP(type->getScalarType(), constant, at);
    if (type->isVectorTy()) return ir_builder->CreateMaskedGather(type, address, llvm::Align(sizeof(T)));
    return ir_builder->CreateLoad(type, address);
  }
  llvm::report_fatal_error("vm/math reads a table that math_to_llvm.cpp does not list");
}

}  // namespace

llvm::Value* ir_load(const double* table, llvm::Value* index) {
  return load_from<double>(number_tables, table, index, ir_number);
}
llvm::Value* ir_load(const uint64_t* table, llvm::Value* index) {
  return load_from<uint64_t>(word_tables, table, index, ir_word);
}

}  // namespace raddle::vm::math

namespace raddle::codegen {
namespace {

using vm::math::IrNumber;

struct MathFunction {
  std::string_view name;
  unsigned argument_count;
  IrNumber (*emit)(IrNumber x, IrNumber y);
};
#define RADDLE_MATH_ARGUMENTS_1 x
#define RADDLE_MATH_ARGUMENTS_2 x, y
#define RADDLE_MATH_FUNCTION(name, count) \
  {#name, count, [](IrNumber x, [[maybe_unused]] IrNumber y) { return vm::math::name(RADDLE_MATH_ARGUMENTS_##count); }},
constexpr MathFunction functions[] = {
#include "vm/math/functions.def"
};
#undef RADDLE_MATH_FUNCTION

llvm::Function* emit(llvm::Module& module, const MathFunction& source, llvm::Type* number, const std::string& name) {
  const std::vector<llvm::Type*> parameters(source.argument_count, number);
  auto* made = llvm::Function::Create(llvm::FunctionType::get(number, parameters, /*isVarArg=*/false),
                                      llvm::GlobalValue::InternalLinkage, name, module);
  made->setDoesNotThrow();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", made));
  const vm::math::IrScope scope(builder, number);
  const IrNumber first(made->getArg(0)), last(made->getArg(source.argument_count - 1));
  builder.CreateRet(source.emit(first, last).value);
  if (made->size() == 1) made->addFnAttr(llvm::Attribute::AlwaysInline);  // a loop over it becomes one of vectors
  return made;
}

}  // namespace

llvm::Function* math_function(llvm::Module& module, std::string_view name, llvm::Type* number) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(number);
  const std::string lanes = vector == nullptr ? "" : "." + std::to_string(vector->getNumElements());
  const std::string symbol = "math." + std::string(name) + lanes;
  if (llvm::Function* known = module.getFunction(symbol)) return known;
  for (const MathFunction& function : functions)
    if (function.name == name) return emit(module, function, number, symbol);
  llvm::report_fatal_error(llvm::StringRef("no mathematics called " + std::string(name)));
}

}  // namespace raddle::codegen
