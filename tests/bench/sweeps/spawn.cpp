// The least that N runs of a program cost: each thread starts one with posix_spawn and waits for it, again and again.
// spawn N PROGRAM, with BENCH_THREADS threads.
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

extern char** environ;

int main(int, char** words) {
  std::atomic<long> left = std::atol(words[1]);
  std::atomic<int> failed = 0;
  const auto work = [&] {
    while (left.fetch_sub(1) > 0) {
      pid_t pid = 0;
      int status = 1;
      if (posix_spawn(&pid, words[2], nullptr, nullptr, words + 2, environ) == 0) waitpid(pid, &status, 0);
      if (status != 0) ++failed;
    }
  };
  std::vector<std::jthread> threads;
  for (int i = std::atoi(std::getenv("BENCH_THREADS")); i > 0; --i) threads.emplace_back(work);
  threads.clear();
  return failed == 0 ? 0 : 1;
}
