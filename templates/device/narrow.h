// Weights of eight bits, e4m3, as the tensor cores take them: numbers of 16 bits, which have all numbers of eight.

// lower and upper are the numbers of two codes: of the lower bytes of a word, or of its upper ones. An instruction
// makes fp16 of codes from compute capability 8.9 on (PTX cvt.rn.f16x2.e4m3x2), and bf16 is made of fp16; eight.h makes
// the same, on hosts too.
#if defined(OVGEN_HOST) || defined(OVGEN_LOOPS) || __CUDA_ARCH__ < 890

template <typename E>
DEVICE unsigned lower(E, unsigned codes)
{
  return E::narrow(e4m3::widen(codes & 0xff)) | (unsigned)E::narrow(e4m3::widen(codes >> 8 & 0xff)) << 16;
}

template <typename E>
DEVICE unsigned upper(E, unsigned codes)
{
  return lower(E(), codes >> 16);
}

#else

DEVICE unsigned halves_of(unsigned short codes)
{
  unsigned made;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(made) : "h"(codes));
  return made;
}

// A half of a word that is named as such needs no shift.
DEVICE unsigned lower(struct fp16, unsigned codes)
{
  unsigned short low, high;
  asm("mov.b32 {%0, %1}, %2;" : "=h"(low), "=h"(high) : "r"(codes));
  return halves_of(low);
}

DEVICE unsigned upper(struct fp16, unsigned codes)
{
  unsigned short low, high;
  asm("mov.b32 {%0, %1}, %2;" : "=h"(low), "=h"(high) : "r"(codes));
  return halves_of(high);
}

DEVICE unsigned bfloats_of(unsigned halves)
{
  const float first = fp16::widen(halves), second = fp16::widen(halves >> 16);
  unsigned made;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(made) : "f"(second), "f"(first));
  return made;
}

DEVICE unsigned lower(struct bf16, unsigned codes) { return bfloats_of(lower(fp16(), codes)); }
DEVICE unsigned upper(struct bf16, unsigned codes) { return bfloats_of(upper(fp16(), codes)); }

#endif

// coded is the type of a weight's elements where they are codes.
struct coded {
  enum { bytes = 1, scaled = 1 };

  // A lane takes what it has put.
  DEVICE unsigned put() { return threadIdx.x; }
  DEVICE uint4 take(const uint4 *at) { return at[threadIdx.x]; }

  // of are the numbers of one half of 16 codes.
  template <typename E>
  DEVICE uint4 of(const uint4 &x, unsigned half)
  {
    const unsigned first = half == 0 ? x.x : x.z, second = half == 0 ? x.y : x.w;
    return {lower(E(), first), upper(E(), first), lower(E(), second), upper(E(), second)};
  }
};

// squared is coded with a scale for each square of 128 x 128 codes, by which what 32 codes of a row add is multiplied.
struct squared : coded {
  enum { scaled = 2 };
};
