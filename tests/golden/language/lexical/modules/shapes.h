#ifndef SHAPES
#define SHAPES
#include "side.h"
(int o) area(int n) { o = n * SIDE; }
#endif
