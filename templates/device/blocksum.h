// The sum of a number of each thread of a block, added up in an order that depends on the block's size alone.

enum { most_threads = 1024 };

DEVICE float sum_of_block(float *sums, float mine)
{
  __syncthreads();  // all have read the sum before
  sums[threadIdx.x] = mine;
  for (unsigned left = blockDim.x; left > 1;) {
    const unsigned half = (left + 1) / 2;
    __syncthreads();
    if (threadIdx.x + half < left) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    left = half;
  }
  __syncthreads();
  return sums[0];
}
