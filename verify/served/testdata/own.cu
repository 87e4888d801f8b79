// Kernels that schedules of engines name. A block of headnorm has a row of a head.
template <typename E>
DEVICE void headnorm(Out<E> o, In<E> x, In<E> weight, i64 columns, i64 width)
{
  i64 heads = columns / width;
  i64 at = blockIdx.x / heads * columns + blockIdx.x % heads * width;
  SHARED(float, sums, 128);
  float mine = 0;
  for (i64 i = threadIdx.x; i < width; i += blockDim.x) {
    mine += x[at + i] * x[at + i];
  }
  float scale = 1 / sqrtf(sum_of_block(sums, mine) / width + 1e-6f);
  for (i64 i = threadIdx.x; i < width; i += blockDim.x) {
    o[at + i] = x[at + i] * scale * weight[i];
  }
}

template <typename E>
DEVICE void plus(Out<E> o, In<E> a, In<E> b)
{
  for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < o.size(); i += gridDim.x * blockDim.x) {
    o[i] = a[i] + b[i];
  }
}

template <typename E>
DEVICE void relu2(Out<E> o, In<E> a)
{
  for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < o.size(); i += gridDim.x * blockDim.x) {
    float x = fmaxf(a[i], 0);
    o[i] = x * x;
  }
}

// A block of copyhead has a row of a head of 128 columns.
template <typename E>
DEVICE void copyhead(Out<E> o, In<E> x, i64 columns)
{
  i64 heads = columns / 128;
  i64 at = blockIdx.x / heads * columns + blockIdx.x % heads * 128 + threadIdx.x;
  o[at] = x[at];
}
