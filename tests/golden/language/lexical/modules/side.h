#pragma once
#define SIDE 5
