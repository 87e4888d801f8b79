// Drives kernels through their table as the simulator does.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "expect.h"

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

// advance lets a launch run until it has finished or waits.
static int advance(const ovgen_sim_kernel *k, void *l, u64 *addr, unsigned *value)
{
  int left;
  do {
    left = k->resume(l, addr, value);
  } while (left == 2);
  return left;
}

static u64 seed = 1;

static void *begin(const ovgen_sim_kernel *k, const void *params, unsigned blocks, unsigned threads)
{
  const unsigned grid[3] = {blocks, 1, 1}, block[3] = {threads, 1, 1};
  return k->start(params, grid, block, seed++);
}

[[maybe_unused]] static int run(const char *name, const void *params, unsigned blocks, unsigned threads)
{
  const ovgen_sim_kernel *k = find(name);
  void *l = begin(k, params, blocks, threads);
  u64 addr;
  unsigned value;
  const int left = advance(k, l, &addr, &value);
  k->destroy(l);
  return left;
}
