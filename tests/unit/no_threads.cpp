// Linked to tests that are not run under ThreadSanitizer: one that starts a thread ends here.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) {
  fputs("this test starts a thread: it belongs to threaded_vm_tests in tests/CMakeLists.txt\n", stderr);
  abort();
}
