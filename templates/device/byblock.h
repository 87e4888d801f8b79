// In these kernels each block signals for itself: it posts to and awaits the blocks of its number
// at the peers, and works at its own part of everything. So it waits for no other of its launch,
// whose blocks start in the order of their numbers, and it takes its words back to 0 itself.

// Part is a block's own part of some bytes.
struct Part { u64 from, bytes; };

// part_of_block cuts bytes in lines of 128, as many a block.
DEVICE struct Part part_of_block(u64 bytes, u64 blocks)
{
  const unsigned lines = (unsigned)((bytes + 127) / 128), count = (unsigned)blocks;  // 64 bits divide slowly
  const unsigned each = (lines + count - 1) / count;
  const u64 from = (u64)(blockIdx.x * each) * 128, most = (u64)each * 128;
  if (from >= bytes) {
    return {bytes, 0};
  }
  return {from, most < bytes - from ? most : bytes - from};
}

// rank_after is the rank that many after a rank, of n in a ring; a remainder takes long.
DEVICE unsigned rank_after(u64 rank, unsigned ahead, u64 n)
{
  const unsigned q = (unsigned)rank + ahead;
  return q < (unsigned)n ? q : q - (unsigned)n;
}

// block_post sets the block's word at each peer, a thread each; it lets the peers see all that
// the block's threads have done before they came here, own resets included.
DEVICE void block_post(unsigned *const *words, u64 count, u64 stride)
{
  __syncthreads();
  if (threadIdx.x < count) {
    store_release(words[threadIdx.x] + blockIdx.x * stride, 1u);
  }
}

// block_take holds the block until each of its words is 1, and takes them back to 0. The first
// block notes the step for all.
DEVICE void block_take(unsigned *const *words, u64 count, u64 stride, unsigned *step, u64 value)
{
  if (threadIdx.x < count) {
    unsigned *const word = words[threadIdx.x] + blockIdx.x * stride;
    await_word(word);
    store_relaxed(word, 0u);
  }
  __syncthreads();
  if (count > 0 && blockIdx.x == 0 && threadIdx.x == 0) {
    store_relaxed(step, (unsigned)value);
  }
}
