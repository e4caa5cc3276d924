#include "compiler/codegen/leaf_math.hpp"

#include <cmath>

#include "vm/program/leaf_math.hpp"

namespace raddle::codegen {
namespace {

MathFunction entry(std::string_view name, double (*function)(double)) {
  return {name, reinterpret_cast<const void*>(function)};
}
MathFunction entry(std::string_view name, double (*function)(double, double)) {
  return {name, reinterpret_cast<const void*>(function)};
}

}  // namespace

std::span<const MathFunction> math_functions() {
  static const MathFunction functions[] = {
      entry("acos", ::acos),        entry("asin", ::asin), entry("atan", ::atan), entry("atan2", ::atan2),
      entry("cbrt", vm::cube_root), entry("cos", ::cos),   entry("exp", ::exp),   entry("log", ::log),
      entry("log10", ::log10),      entry("log2", ::log2), entry("pow", ::pow),   entry("sin", ::sin),
      entry("tan", ::tan),
  };
  return functions;
}

}  // namespace raddle::codegen
