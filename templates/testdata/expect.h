// The counters of all of these tests.
#pragma once
#include <atomic>
#include <cstdio>

[[maybe_unused]] static std::atomic<int> failures;

#define EXPECT(condition)                                        \
  do {                                                           \
    if (!(condition)) {                                          \
      printf("line %d: %s does not hold\n", __LINE__, #condition); \
      failures++;                                                \
    }                                                            \
  } while (0)

typedef unsigned long long u64;
