// Start and end of a process that prints one line.
#include <cstdio>

int main() { std::puts("hello"); }
