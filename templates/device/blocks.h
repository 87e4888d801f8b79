// Kernels that signal around their work. Their blocks need not run at the same time. Each awaits
// the words on its own, and the last one to finish, which knows that no other looks at them any
// more, takes the words back to 0 and posts. Blocks count themselves at the scope of the GPU; one
// release at that of the system then covers what all of them have read and written.

// first_block is true in one thread, of the first block to start, where blocks count themselves
// as they start and as they finish.
DEVICE bool first_block(unsigned *count)
{
  return threadIdx.x == 0 && increment(count, 2 * gridDim.x - 1) == 0;
}

// last_block is true in one thread, of the last block to finish, once all of that block's threads
// are here. Each block has counted itself as often as times says; the count goes back to 0.
DEVICE bool last_block(unsigned *count, unsigned times)
{
  const unsigned last = times * gridDim.x - 1;
  __syncthreads();
  return threadIdx.x == 0 && increment(count, last) == last;
}

// block_await holds the block until each word is 1.
DEVICE void block_await(unsigned *const *words, u64 count)
{
  if (threadIdx.x < count) {
    await_word(words[threadIdx.x]);
  }
  __syncthreads();
}

// post_words lets peers see what happened before, own resets included, and then the words.
DEVICE void post_words(unsigned *const *words, u64 count)
{
  if (count > 0) {
    __threadfence_system();
  }
  for (unsigned i = 0; i < count; i++) {
    store_relaxed(words[i], 1u);
  }
}

// reset_words ends a wait: it takes the words back to 0 and notes the step.
DEVICE void reset_words(unsigned *const *words, u64 count, unsigned *step, u64 value)
{
  for (unsigned i = 0; i < count; i++) {
    store_relaxed(words[i], 0u);
  }
  if (count > 0) {
    store_relaxed(step, (unsigned)value);
  }
}
