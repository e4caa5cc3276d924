#include "compiler/codegen/math_to_llvm.hpp"

#include <span>
#include <string>
#include <vector>

#include "compiler/codegen/ir_number.hpp"
#include "vm/math/functions.hpp"
#include "vm/math/functions32.hpp"

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
constexpr Table<float> number_tables32[] = {{"erfc_table32", erfc_table32}};
constexpr Table<uint32_t> word_tables32[] = {{"two_over_pi32", two_over_pi_bits32}};

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
llvm::Value* ir_load(const float* table, llvm::Value* index) {
  return load_from<float>(number_tables32, table, index, ir_number);
}
llvm::Value* ir_load(const uint32_t* table, llvm::Value* index) {
  return load_from<uint32_t>(word_tables32, table, index, ir_word);
}

}  // namespace raddle::vm::math

namespace raddle::codegen {
namespace {

struct MathFunction {
  std::string_view name;
  unsigned argument_count;
  llvm::Value* (*emit)(llvm::Value* x, llvm::Value* y);
};
template <class Real>
using Number = vm::math::IrNumberOf<Real>;
#define RADDLE_MATH_ARGUMENTS_1(Real) Number<Real>(x)
#define RADDLE_MATH_ARGUMENTS_2(Real) Number<Real>(x), Number<Real>(y)
#define RADDLE_MATH_ENTRY(name, function, count, Real)                     \
  {name, count, [](llvm::Value* x, [[maybe_unused]] llvm::Value* y) {      \
     return vm::math::function(RADDLE_MATH_ARGUMENTS_##count(Real)).value; \
   }},
constexpr MathFunction functions[] = {
#define RADDLE_MATH_FUNCTION(name, count) RADDLE_MATH_ENTRY(#name, name, count, double)
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#define RADDLE_MATH_FUNCTION(name, count) RADDLE_MATH_ENTRY(#name "_32", name##_32, count, float)
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION
};
#undef RADDLE_MATH_ENTRY
#undef RADDLE_MATH_ARGUMENTS_1
#undef RADDLE_MATH_ARGUMENTS_2

llvm::Function* emit(llvm::Module& module, const MathFunction& source, llvm::Type* number, const std::string& name) {
  const std::vector<llvm::Type*> parameters(source.argument_count, number);
  auto* made = llvm::Function::Create(llvm::FunctionType::get(number, parameters, /*isVarArg=*/false),
                                      llvm::GlobalValue::InternalLinkage, name, module);
  made->setDoesNotThrow();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", made));
  const vm::math::IrScope scope(builder, number);
  builder.CreateRet(source.emit(made->getArg(0), made->getArg(source.argument_count - 1)));
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
