#pragma once
int only_one = 1;
