// An all-reduce of floats by one kernel, on addresses of Group.Peers: each rank adds up the buffers of all ranks, in
// the order of ranks. Block b uses two words of each pair of ranks. By word 2b a rank says that its buffer is complete,
// and by word 2b + 1 that it has read the buffers, so that they may be written again.

#include "../../../generated/device/ptx.h"
#include "../../../generated/device/words.h"

struct sum {
  const float *const *buffers;  // of each rank
  unsigned *const *words;       // of each rank: word n of rank r at n * ranks + r
  float *dst;
  u64 count, rank, ranks;
};

// meet posts a word to every peer and takes back theirs. Thread r does so for rank r.
DEVICE void meet(const struct sum &p, u64 n)
{
  const u64 r = threadIdx.x;
  __syncthreads();
  if (r < p.ranks && r != p.rank) {
    unsigned *const mine = &p.words[p.rank][n * p.ranks + r];
    store_release(&p.words[r][n * p.ranks + p.rank], 1u);
    await_word(mine);
    store_relaxed(mine, 0u);
  }
  __syncthreads();
}

extern "C" {
__global__ void sum(const __grid_constant__ struct sum p)
{
  if (p.count == 0) {
    return;  // the first launch
  }
  meet(p, 2 * blockIdx.x);
  const u64 part = (p.count + gridDim.x - 1) / gridDim.x, first = blockIdx.x * part;
  for (u64 i = first + threadIdx.x; i < first + part && i < p.count; i += blockDim.x) {
    float x = 0.0f;
    for (u64 r = 0; r < p.ranks; r++) {
      x += p.buffers[r][i];
    }
    p.dst[i] = x;
  }
  meet(p, 2 * blockIdx.x + 1);
}
}
