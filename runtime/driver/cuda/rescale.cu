// rescale makes the result of a product of eight bits from its sums: of [rows, columns] in fp32, times the scale of
// each row and of each column, and a bias. Where rows are few, products to which cuBLASLt applies such scales take up
// to twice as long as its products without and this kernel.
//
// Launch: blockIdx.y is the row, and a thread makes 8 columns, which are multiples of 16.

#include "../../../templates/device/ptx.h"
#include "../../../templates/device/bf16.h"
#include "../../../templates/device/fp16.h"

struct rescale {
  char *dst;
  const float *sums, *row_scales, *column_scales;
  const char *bias;  // of [columns], or none
  u64 columns;
};

template <typename E>
DEVICE void rescale_code(const struct rescale &p)
{
  enum { width = 8 };
  typedef typename E::bits bits;
  struct alignas(16) Unit { bits of[width]; };
  struct alignas(16) Sums { float of[width]; };
  const u64 column = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * width;
  if (column >= p.columns) {
    return;
  }
  const u64 at = blockIdx.y * p.columns + column;
  const float scale = p.row_scales[blockIdx.y];
  const struct Sums sums = *(const struct Sums *)(p.sums + at);
  const struct Sums scales = *(const struct Sums *)(p.column_scales + column);
  struct Unit to;
#pragma unroll
  for (unsigned i = 0; i < width; i++) {
    float x = sums.of[i] * scale * scales.of[i];
    if (p.bias != nullptr) {
      x += E::widen(((const bits *)p.bias)[column + i]);
    }
    to.of[i] = (bits)E::narrow(x);
  }
  *(struct Unit *)((bits *)p.dst + at) = to;
}

extern "C" {
__global__ void bf16_rescale(const __grid_constant__ struct rescale p) { rescale_code<bf16>(p); }
__global__ void fp16_rescale(const __grid_constant__ struct rescale p) { rescale_code<fp16>(p); }
}
