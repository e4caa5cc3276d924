#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

/// Of programs some of whose tests start a process of the same program. @return whether this is one, which has ended
bool is_served_for_tests(int argc, char** argv) __attribute__((weak));

int main(int argc, char** argv) {
  if (is_served_for_tests != nullptr && is_served_for_tests(argc, argv)) return 0;
  return doctest::Context(argc, argv).run();
}
