#include "faulty.h"
