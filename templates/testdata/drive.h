// Drives kernels through their table as the simulator does.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "declared.h"
#include "expect.h"

// The table where kernels are looked for first: this file's, or that of the kernels in which a mutant differs, linked
// to what drives the right ones.
#ifndef TABLE
#define TABLE check_kernels
#endif
extern "C" const void *TABLE(const void *);

static const ovgen_kernel *all()
{
  engine_load((void *)own_kernels);
  return engine_load((void *)TABLE);
}

static const ovgen_kernel *find(const char *name)
{
  for (const ovgen_kernel *k : {all(), engine_load((void *)check_kernels)}) {
    for (; k->name != nullptr; k++) {
      if (strcmp(k->name, name) == 0) {
        return k;
      }
    }
  }
  printf("no kernel %s\n", name);
  exit(1);
}

// advance lets a launch run until it has finished or waits.
static int advance(void *l, u64 *addr, unsigned *value)
{
  int left;
  do {
    left = engine_resume(l, addr, value);
  } while (left == 2);
  return left;
}

static u64 seed = 1;

static void *begin(const ovgen_kernel *k, const void *params, unsigned blocks, unsigned threads)
{
  const unsigned grid[3] = {blocks, 1, 1}, block[3] = {threads, 1, 1};
  return engine_start(k, params, grid, block, seed++);
}

[[maybe_unused]] static int run(const char *name, const void *params, unsigned blocks, unsigned threads)
{
  const ovgen_kernel *k = find(name);
  void *l = begin(k, params, blocks, threads);
  u64 addr;
  unsigned value;
  const int left = advance(l, &addr, &value);
  engine_destroy(l);
  return left;
}
