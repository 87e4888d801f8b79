// Products of few rows: the instruction of the tensor cores, by which a warp adds the product of 16 columns of the
// result, of 8 of its rows and of a depth of 16. In the operands a lane's place is line = lane / 4 and part = lane % 4.
// It has four elements of the depth, 2 part, 2 part + 1, 2 part + 8 and 2 part + 9, two in a word: in b those of the
// columns line (words 0 and 2) and line + 8 (1 and 3), in a those of row line. Its sums are of the columns line (0 and
// 1) and line + 8, and of the rows 2 part and 2 part + 1.

// An instruction makes few_columns columns and few_rows rows, and few_slices warps share out the depth. A piece is
// few_piece bytes of a row of B. A warp's next piece lies behind those of all warps.
enum { few_columns = 16, few_rows = 8, few_slices = 8, few_piece = 128, few_pieces = few_slices * few_piece };

DEVICE uint4 take_matrices(const uint4 *at);

// plain is the type of a weight's elements where it is the rows' own. An instruction takes a depth of 16 that is 32
// bytes of a row, so the lanes take what others have put: put is the place of a lane's 16 bytes among those of its
// block, and take takes a word of each 16 bytes of half a piece. No two lanes take from one bank.
struct plain {
  enum { bytes = 2, scaled = 0 };

  DEVICE unsigned put() { return threadIdx.x ^ (threadIdx.x / 8 & 3); }
  DEVICE uint4 take(const uint4 *at) { return take_matrices(at + threadIdx.x / 32 * 32); }

  template <typename E>
  DEVICE uint4 of(const uint4 &x, unsigned)
  {
    return x;
  }
};

#if defined(OVGEN_HOST) || defined(OVGEN_LOOPS)

// On a host the lanes exchange their operands in memory of the block, whose warps all multiply at the same time.
template <typename E>
DEVICE void multiply(E, float (&sums)[4], const unsigned (&b)[4], const unsigned (&a)[2])
{
  SHARED(unsigned, words, few_slices * 32 * 6);
  const unsigned line = threadIdx.x % 32 / 4, part = threadIdx.x % 4;
  unsigned *const mine = words + threadIdx.x * 6, *const warps = words + threadIdx.x / 32 * 32 * 6;
  __syncthreads();  // all have read the operands before
  for (unsigned i = 0; i < 6; i++) {
    mine[i] = i < 4 ? b[i] : a[i - 4];
  }
  __syncthreads();
  for (unsigned i = 0; i < 4; i++) {
    for (unsigned pair = 0; pair < 8; pair++) {
      const unsigned x = warps[(line * 4 + pair % 4) * 6 + pair / 4 * 2 + i / 2];
      const unsigned y = warps[((2 * part + i % 2) * 4 + pair % 4) * 6 + 4 + pair / 4];
      sums[i] += E::widen(x & 0xffff) * E::widen(y & 0xffff);
      sums[i] += E::widen(x >> 16) * E::widen(y >> 16);
    }
  }
}

// lanes_meet holds a lane until all lanes of its warp are here: on a host, all threads of its block.
DEVICE void lanes_meet() { __syncthreads(); }

// take_matrices takes what the lanes of a warp have put.
DEVICE uint4 take_matrices(const uint4 *at)
{
  const unsigned line = threadIdx.x % 32 / 4, part = threadIdx.x % 4;
  unsigned x[4];
  for (unsigned i = 0; i < 4; i++) {
    x[i] = ((const unsigned *)&at[line * 4 + (i ^ (line / 2 & 3))])[part];
  }
  return {x[0], x[1], x[2], x[3]};
}

// A ring is memory of the block that the launch gives it. A host copies at once.
#define RING(name, count) SHARED(uint4, name, count)

DEVICE u64 goes_first() { return 0; }
DEVICE void copy_row(uint4 *to, const char *from, bool there) { *to = there ? *(const uint4 *)from : uint4(); }
DEVICE void copy_weight(uint4 *to, const char *from, bool there) { copy_row(to, from, there); }
DEVICE void copies_started() {}

template <int left>
DEVICE void copies_left() {}

#else  // the tensor cores

#define MULTIPLY(type) asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 " \
  "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
  : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]) \
  : "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(a[0]), "r"(a[1]))

DEVICE void multiply(struct bf16, float (&sums)[4], const unsigned (&b)[4], const unsigned (&a)[2])
{
  MULTIPLY("bf16");
}

DEVICE void multiply(struct fp16, float (&sums)[4], const unsigned (&b)[4], const unsigned (&a)[2])
{
  MULTIPLY("f16");
}

#define RING(name, count) extern __shared__ uint4 name[]

DEVICE void lanes_meet() { __syncwarp(); }

DEVICE unsigned in_block(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }

DEVICE uint4 take_matrices(const uint4 *at)
{
  const unsigned line = threadIdx.x % 8, i = threadIdx.x % 32 / 8;
  uint4 x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "r"(in_block(at + line * 4 + (i ^ (line / 2 & 3))))
               : "memory");
  return x;
}

// goes_first is the policy by which memory that is read once leaves the second cache ahead of what else is there, such
// as code, parameters and rows (PTX createpolicy).
DEVICE u64 goes_first()
{
  u64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// copy_weight copies 16 bytes of memory that the block reads once, copy_row of memory that others read too, and both
// zeros where nothing is there.
// Each takes its place in the group that copies_started ends; copies_left holds the thread until few enough of its
// groups are under way.
DEVICE void copy_weight(uint4 *to, const char *from, bool there)
{
  asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2, %3;"
               : : "r"(in_block(to)), "l"(from), "r"(there ? 16 : 0), "l"(goes_first()) : "memory");
}

DEVICE void copy_row(uint4 *to, const char *from, bool there)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;"
               : : "r"(in_block(to)), "l"(from), "r"(there ? 16 : 0) : "memory");
}

DEVICE void copies_started() { asm volatile("cp.async.commit_group;" : : : "memory"); }

template <int left>
DEVICE void copies_left() { asm volatile("cp.async.wait_group %0;" : : "n"(left) : "memory"); }

#endif  // the tensor cores
