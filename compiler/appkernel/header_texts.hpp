#pragma once
#include <string_view>

namespace raddle::appkernel {

// The texts of the files of kernel_headers().
std::string_view kernels_cu();
std::string_view raddle_kernel_h();
std::string_view raddle_kernel_lanes_h();
std::string_view raddle_kernel_math_h();
std::string_view math_arc_hpp();
std::string_view math_constants_hpp();
std::string_view math_error_function_hpp();
std::string_view math_error_function_tables_hpp();
std::string_view math_exponential_hpp();
std::string_view math_functions_def();
std::string_view math_functions_hpp();
std::string_view math_gamma_hpp();
std::string_view math_gamma_tables_hpp();
std::string_view math_inverse_hyperbolic_hpp();
std::string_view math_logarithm_hpp();
std::string_view math_number_hpp();
std::string_view math_root_hpp();
std::string_view math_tables_hpp();
std::string_view math_tables32_hpp();
std::string_view math_trigonometric_hpp();

}  // namespace raddle::appkernel
