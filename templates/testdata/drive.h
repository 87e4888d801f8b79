// Drives kernels through their table as the simulator does.
#include <cstdio>
#include <cstring>
#include <vector>

static int failures;

#define EXPECT(condition)                                        \
  do {                                                           \
    if (!(condition)) {                                          \
      printf("line %d: %s does not hold\n", __LINE__, #condition); \
      failures++;                                                \
    }                                                            \
  } while (0)

typedef unsigned long long u64;

static const ovgen_sim_kernel *find(const char *name)
{
  for (const ovgen_sim_kernel *k = ovgen_check_sim(); k->name != nullptr; k++) {
    if (strcmp(k->name, name) == 0) {
      return k;
    }
  }
  printf("no kernel %s\n", name);
  exit(1);
}

static int run(const char *name, const void *params, unsigned blocks, unsigned threads)
{
  const ovgen_sim_kernel *k = find(name);
  const unsigned grid[3] = {blocks, 1, 1}, block[3] = {threads, 1, 1};
  void *l = k->start(params, grid, block);
  u64 addr;
  unsigned value;
  const int left = k->resume(l, &addr, &value);
  k->destroy(l);
  return left;
}
