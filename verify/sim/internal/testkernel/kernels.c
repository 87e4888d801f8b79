#include "kernels.h"

#include <string.h>

static const struct ovgen_engine *engine;

struct fill {
  unsigned *dst;
  unsigned long long words;
  unsigned value;
};

struct relay {
  unsigned *wait, *post;
  unsigned *dst, *src;
  unsigned long long words;
};

static void fill(const void *params)
{
  const struct fill *p = params;
  if (engine->threadIdx.x > 0) {
    return;
  }
  for (unsigned long long i = 0; i < p->words; i++) {
    p->dst[i] = p->value + engine->gridDim.x - 1;
  }
}

static void relay(const void *params)
{
  const struct relay *p = params;
  if (p->wait == 0 || engine->threadIdx.x > 0) {
    return;
  }
  while (engine->load_acquire(p->wait) != 1) {
  }
  engine->store_relaxed(p->wait, 0);
  memcpy(p->dst, p->src, 4 * p->words);
  engine->store_release(p->post, 1);
}

/* Leaves a tensor of 8 bytes in the second of its threads; the others wait for it. */
static void stray(const void *params)
{
  (void)params;
  if (engine->threadIdx.x == 1) {
    engine->outside("Stray", "T", 1, -4, 8);
  }
  engine->sync_threads();
}

static const struct ovgen_kernel kernels[] = {
  {"fill", sizeof(struct fill), fill},
  {"relay", sizeof(struct relay), relay},
  {"stray", 0, stray},
  {0},
};

const struct ovgen_kernel *testkernel_kernels(const struct ovgen_engine *e)
{
  engine = e;
  return kernels;
}
