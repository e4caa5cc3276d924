// The float32 forms of functions, as templates over a number type whose Real is float: Note [number types] in
// number.hpp. functions32.def lists them.
#pragma once
#include "vm/math/arc32.hpp"
#include "vm/math/error_function32.hpp"
#include "vm/math/exponential32.hpp"
#include "vm/math/logarithm32.hpp"
#include "vm/math/root.hpp"
#include "vm/math/trigonometric32.hpp"
