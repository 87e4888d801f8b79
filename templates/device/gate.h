// Gates: a function of x, in fp32, times the element of another tensor where there is one, and rounded once.
// That of silu is x times the logistic function of x.

DEVICE float silu_of(float x) { return x / (1.0f + exponential(-x)); }

// gate is the launch's part in the gate of a tensor by all of its threads: by units of 16 bytes where
// dst and the operands are aligned alike, and the elements before the first unit and after the last one
// by one. Who reads an element of an operand that is dst as well writes it later, and no one else does
// either.
template <typename E, unsigned operands, float (*of)(float)>
DEVICE void gate(char *dst, const char *const *from, u64 count)
{
  typedef typename E::bits bits;
  enum { unit = 16 / sizeof(bits) };
  const u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x, stride = (u64)gridDim.x * blockDim.x;
  u64 apart = 0;
  for (unsigned k = 0; k < operands; k++) {
    apart |= (u64)from[k] ^ (u64)dst;
  }
  u64 head = count, units = 0;  // elements, 16 bytes
  if (apart % 16 == 0) {
    head = (0 - (u64)dst) % 16 / sizeof(bits);
    head = head < count ? head : count;
    units = (count - head) / unit;
  }
  for (u64 i = first; i < units; i += stride) {
    const u64 at = (head + i * unit) * sizeof(bits);
    float x[unit], up[unit];
    for (unsigned k = 0; k < unit; k++) {
      x[k] = up[k] = -0.0f;  // whatever is added to -0 stays as it is
    }
    add<E>(x, *(const uint4 *)(from[0] + at));
    add<E>(up, *(const uint4 *)(from[operands - 1] + at));
    for (unsigned k = 0; k < unit; k++) {
      x[k] = of(x[k]) * (operands > 1 ? up[k] : 1.0f);
    }
    *(uint4 *)(dst + at) = rounded<E>(x);
  }
  const u64 middle = units * unit;
  for (u64 i = first; i < count - middle; i += stride) {
    const u64 at = i < head ? i : i + middle;
    const float x = of(E::widen(((const bits *)from[0])[at]));
    ((bits *)dst)[at] = (bits)E::narrow(operands > 1 ? x * E::widen(((const bits *)from[operands - 1])[at]) : x);
  }
}
