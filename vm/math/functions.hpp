// All functions, as templates over a number type: see Note [number types] in number.hpp. functions.def lists them.
#pragma once
#include "vm/math/arc.hpp"
#include "vm/math/error_function.hpp"
#include "vm/math/exponential.hpp"
#include "vm/math/gamma.hpp"
#include "vm/math/inverse_hyperbolic.hpp"
#include "vm/math/logarithm.hpp"
#include "vm/math/root.hpp"
#include "vm/math/trigonometric.hpp"
