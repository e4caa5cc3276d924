// In the asan build the compiler's blocks call this for the fuzzer (see coverage.cpp); elsewhere the calls do nothing.
extern "C" [[gnu::no_sanitize_coverage]] void __sanitizer_cov_trace_pc() {}
