// Elements of x from a place on, times a number: by units of 16 bytes, or one by one, in the order of the threads.
template <typename E>
DEVICE void scaled(Out<E> o, In<E> x, In<int> from, i64 factor, i64 units)
{
  SHARED(int, place, 1);
  if (threadIdx.x == 0) {
    place[0] = from[0];
  }
  __syncthreads();
  const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, threads = (u64)gridDim.x * blockDim.x;
  const u64 whole = units ? o.size() / Out<E>::unit : 0;
  for (u64 u = thread; u < whole; u += threads) {
    float v[In<E>::unit];
    x.load(u * In<E>::unit + place[0], v);
    for (unsigned k = 0; k < In<E>::unit; k++) {
      v[k] = fmaxf(factor * v[k], -INFINITY);
    }
    o.store(u * Out<E>::unit, v);
  }
  for (u64 i = whole * Out<E>::unit + thread; i < o.size(); i += threads) {
    o[i] = factor * x[i + place[0]];
  }
}

// Writes integers.
template <typename E>
DEVICE void counted(Out<int> o, In<E> x)
{
  for (u64 i = threadIdx.x; i < o.size(); i += blockDim.x) {
    o[i] = (int)(i + x.size());
  }
}

// The sum of as many elements as a block has threads, of those that follow one another.
template <typename E>
DEVICE void totalled(Out<E> o, In<E> x)
{
  SHARED(float, sums, most_threads);
  for (u64 i = 0; i < o.size(); i++) {
    const u64 at = i * blockDim.x + threadIdx.x;
    const float sum = sum_of_block(sums, at < x.size() ? (float)x[at] : 0.0f);
    if (threadIdx.x == 0) {
      o[i] = sum;
    }
  }
}
