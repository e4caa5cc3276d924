#include "compiler/appkernel/kernel_headers.hpp"

#include <array>

#include "compiler/appkernel/header_texts.hpp"

namespace raddle::appkernel {

std::span<const KernelHeader> kernel_headers() {
  static const std::array headers = {
      KernelHeader{"kernels.cu", kernels_cu()},
      KernelHeader{"raddle_kernel.h", raddle_kernel_h()},
      KernelHeader{"raddle_kernel_lanes.h", raddle_kernel_lanes_h()},
      KernelHeader{"raddle_kernel_math.h", raddle_kernel_math_h()},
      KernelHeader{"vm/math/arc.hpp", math_arc_hpp()},
      KernelHeader{"vm/math/constants.hpp", math_constants_hpp()},
      KernelHeader{"vm/math/error_function.hpp", math_error_function_hpp()},
      KernelHeader{"vm/math/error_function_tables.hpp", math_error_function_tables_hpp()},
      KernelHeader{"vm/math/exponential.hpp", math_exponential_hpp()},
      KernelHeader{"vm/math/functions.def", math_functions_def()},
      KernelHeader{"vm/math/functions.hpp", math_functions_hpp()},
      KernelHeader{"vm/math/gamma.hpp", math_gamma_hpp()},
      KernelHeader{"vm/math/gamma_tables.hpp", math_gamma_tables_hpp()},
      KernelHeader{"vm/math/inverse_hyperbolic.hpp", math_inverse_hyperbolic_hpp()},
      KernelHeader{"vm/math/logarithm.hpp", math_logarithm_hpp()},
      KernelHeader{"vm/math/number.hpp", math_number_hpp()},
      KernelHeader{"vm/math/root.hpp", math_root_hpp()},
      KernelHeader{"vm/math/tables.hpp", math_tables_hpp()},
      KernelHeader{"vm/math/tables32.hpp", math_tables32_hpp()},
      KernelHeader{"vm/math/trigonometric.hpp", math_trigonometric_hpp()},
  };
  return headers;
}

}  // namespace raddle::appkernel
