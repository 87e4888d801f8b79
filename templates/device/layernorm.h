// The norm of rows about their means: what is left of each without its mean, divided by the root of the mean of its
// squares, in fp32, times a weight and plus a bias for each column, and rounded once.

template <typename E>
DEVICE void norm_about_mean(char *dst, const char *src, u64 count, const char *weight, const char *bias, u64 columns,
                            float epsilon)
{
  typedef typename E::bits bits;
  SHARED(float, sums, most_threads);
  for (u64 first = blockIdx.x * columns; first < count; first += gridDim.x * columns) {
    const bits *const x = (const bits *)src + first;
    float sum = 0.0f;
    for (u64 i = threadIdx.x; i < columns; i += blockDim.x) {
      sum += E::widen(x[i]);
    }
    const float mean = sum_of_block(sums, sum) / (float)columns;
    float squares = 0.0f;
    for (u64 i = threadIdx.x; i < columns; i += blockDim.x) {
      const float left = E::widen(x[i]) - mean;
      squares += left * left;
    }
    const float scale = 1.0f / square_root(sum_of_block(sums, squares) / (float)columns + epsilon);
    for (u64 i = threadIdx.x; i < columns; i += blockDim.x) {
      const float normed = (E::widen(x[i]) - mean) * scale * E::widen(((const bits *)weight)[i]);
      ((bits *)dst)[first + i] = (bits)E::narrow(normed + E::widen(((const bits *)bias)[i]));
    }
  }
}
