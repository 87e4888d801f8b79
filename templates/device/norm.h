// The norm of rows: each divided by the root of the mean of its squares, in fp32, times a weight for each
// column, and rounded once.

template <typename E>
DEVICE void norm(char *dst, const char *src, u64 count, const char *weight, u64 columns, float epsilon)
{
  typedef typename E::bits bits;
  SHARED(float, sums, most_threads);
  for (u64 first = blockIdx.x * columns; first < count; first += gridDim.x * columns) {
    const bits *const x = (const bits *)src + first;
    float squares = 0.0f;
    for (u64 i = threadIdx.x; i < columns; i += blockDim.x) {
      squares += E::widen(x[i]) * E::widen(x[i]);
    }
    const float scale = 1.0f / square_root(sum_of_block(sums, squares) / (float)columns + epsilon);
    for (u64 i = threadIdx.x; i < columns; i += blockDim.x) {
      ((bits *)dst)[first + i] = (bits)E::narrow(E::widen(x[i]) * scale * E::widen(((const bits *)weight)[i]));
    }
  }
}
