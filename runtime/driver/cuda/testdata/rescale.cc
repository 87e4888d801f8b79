// Prints what rescale makes of sums 0, 1, 2 and so on in bf16, and what lies behind it.
#include <cstdio>
#include <vector>

namespace of_host {
typedef unsigned long long u64;
#include "../../../../templates/device/host.h"
#include "rescale.cu"
}
#undef threadIdx
#undef blockIdx
#undef blockDim

static unsigned to_bfloat(float x)  // none is NaN
{
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

int main(int, char **args)
{
  enum { rows = 3, columns = 2064, threads = 128 };
  std::vector<float> sums(rows * columns), row_scales, column_scales;
  std::vector<unsigned short> bias, dst((rows + 1) * columns, 0xabab);
  for (unsigned i = 0; i < rows * columns; i++) {
    sums[i] = (float)i;
  }
  for (unsigned row = 0; row < rows; row++) {
    row_scales.push_back((float)(1u << row) / 2.0f);
  }
  for (int column = 0; column < columns; column++) {
    column_scales.push_back((float)(1u << column % 3));
    bias.push_back((unsigned short)to_bfloat((float)(column % 256 - 128)));
  }
  of_host::Engine e = {};
  e.float_to_bfloat = to_bfloat;
  of_host::engine = &e;
  const of_host::rescale p = {(char *)dst.data(), sums.data(), row_scales.data(), column_scales.data(),
                              *args[1] ? (const char *)bias.data() : nullptr, columns};
  for (unsigned i = 0; i < rows * 3 * threads; i++) {
    e.blockDim = {threads, 1, 1};
    e.blockIdx = {i / threads % 3, i / threads / 3, 0};
    e.threadIdx = {i % threads, 0, 0};
    of_host::bf16_rescale(p);
  }
  fwrite(dst.data(), 2, dst.size(), stdout);
  return 0;
}
