// decode takes at most 8 query heads of a row that read one head of keys, so that each key and value is read once. The
// warps of a block share out the positions of a stretch by tiles of 16, and read them from the cache into the registers
// that a product wants: in the operands of mma.sync thread 4g+t of a warp has elements 2t, 2t+1, 2t+8 and 2t+9 of what
// is summed over, but their order is free. So for scores it has 8 elements side by side of a key, for two products, and
// for results 8 elements side by side of the values of four positions, for eight. What the next tile needs is loaded as
// soon as its registers are free. They hold 128 elements of a head, and of wider ones a part at a time.
//
// The block whose stretch of a row and head ends last joins the stretches.

enum { few_queries = 8, decode_tile = 16, decode_warps = 4, decode_threads = 32 * decode_warps };
enum { most_stretches = 8, least_stretch = 128 };
enum { deep_weight = decode_tile + 2, part_most = 128 };  // from row to row; elements of a part of a head

// deep are the elements from row to row of queries, and of sums.
template <unsigned most>
struct deep { enum { query = most + 8, sum = 4 + most, parts = most / part_most }; };

// stretch_of is the length of a row's stretches. They depend on its position alone: so do the bits of its result.
DEVICE int stretch_of(int position)
{
  const int step = decode_warps * decode_tile;
  return greater(position / most_stretches / step * step + step, (int)least_stretch);
}

// part_of is the place of the result of a query head of a row for a stretch: the greatest score, the sum of the
// exponentials, and behind two more the weighted sum of the values.
DEVICE float *part_of(const struct params &p, u64 query, u64 part)
{
  return p.parts + (query * most_stretches + part) * (4 + p.size);
}

// first_query is the first query head of this rank that reads a head of keys or a later one.
DEVICE u64 first_query(const struct params &p, u64 head)
{
  const u64 query = head * p.group > p.offset ? head * p.group - p.offset : 0;
  return query < p.queries ? query : p.queries;
}

// two elements, which lie in one register where they have 16 bits.
template <typename E>
struct alignas(2 * sizeof(typename E::bits)) two { typename E::bits x, y; };

template <typename E>
DEVICE struct two<E> two_of(const unit<E> &v, unsigned k) { return {bits_of(v, k), bits_of(v, k + 1)}; }

// multiply adds to c, elements (g, 2t), (g, 2t+1), (g+8, 2t) and (g+8, 2t+1) of a [16, 8], the product of a [16, 16]
// and b [16, 8]. Threads exchange them in memory of the block.
template <typename E>
DEVICE void multiply(float (&c)[4], const two<E> (&a)[4], const two<E> (&b)[2])
{
  SHARED(struct two<E>, all, decode_threads * 6);
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  struct two<E> *const mine = all + threadIdx.x * 6, *const warp = all + threadIdx.x / 32 * 32 * 6;
  __syncwarp();  // all have read the operands before
  for (unsigned i = 0; i < 6; i++) {
    mine[i] = i < 4 ? a[i] : b[i - 4];
  }
  __syncwarp();
  for (unsigned i = 0; i < 4; i++) {
#pragma unroll 1
    for (unsigned k = 0; k < 8; k++) {
      const struct two<E> x = warp[(g * 4 + k % 4) * 6 + k / 4 * 2 + i / 2];
      const struct two<E> y = warp[((2 * t + i % 2) * 4 + k % 4) * 6 + 4 + k / 4];
      c[i] += E::widen(x.x) * E::widen(y.x) + E::widen(x.y) * E::widen(y.y);
    }
  }
}

#ifdef OVGEN_HOST

// across is x of the thread whose number differs in a bit.
DEVICE float across(float x, unsigned bit)
{
  SHARED(float, all, decode_threads);
  __syncwarp();
  all[threadIdx.x] = x;
  __syncwarp();
  return all[threadIdx.x ^ bit];
}

#else

DEVICE float across(float x, unsigned bit) { return __shfl_xor_sync(~0u, x, bit); }

DEVICE unsigned word(const two<bf16> &v) { return v.x | (unsigned)v.y << 16; }

DEVICE void multiply(float (&c)[4], const two<bf16> (&a)[4], const two<bf16> (&b)[2])
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(word(a[0])), "r"(word(a[1])), "r"(word(a[2])), "r"(word(a[3])), "r"(word(b[0])), "r"(word(b[1])));
}

#endif

// load_cached loads n units of 8 elements of a position of a head from an element on, so far apart; zeros where there
// are none. wide leads from position to position.
template <typename E, unsigned n, unsigned apart>
DEVICE void load_cached(unit<E> (&v)[n], const char *head, unsigned wide, unsigned size, unsigned first, int position,
                        int end)
{
  const u64 from = (unsigned)position * wide + first;
  for (unsigned i = 0; i < n; i++) {
    v[i] = position < end && first + i * apart < size ? load_unit<E>(head, from + i * apart) : unit<E>{};
  }
}

// load_keys loads a part of the keys of a tile: of positions g and g+8 elements 32c+8t to 32c+8t+7.
template <typename E>
DEVICE void load_keys(unit<E> (&k)[2][4], const char *head, unsigned wide, unsigned size, unsigned part, int at,
                      int end)
{
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned n = 0; n < 2; n++) {
    load_cached<E, 4, 32>(k[n], head, wide, size, part * part_most + t * 8, at + (int)(n * 8 + g), end);
  }
}

// load_values loads a part of the values of a tile: of positions 2t, 2t+1, 2t+8 and 2t+9 elements 64h+8g to 64h+8g+7.
template <typename E>
DEVICE void load_values(unit<E> (&v)[4][2], const char *head, unsigned wide, unsigned size, unsigned part, int at,
                        int end)
{
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned i = 0; i < 4; i++) {
    load_cached<E, 2, 64>(v[i], head, wide, size, part * part_most + g * 8, at + (int)(2 * t + i % 2 + i / 2 * 8),
                          end);
  }
}

// look has a warp's queries look at its tiles of a stretch. Of queries 2t and 2t+1 a thread gets the greatest score,
// the sum of the exponentials, and sums, where element 64h+8g+e of a part of query 2t+j is [part][e][2h+j].
template <typename E, unsigned head_most>
DEVICE void look(float (&sums)[head_most / part_most][8][4], float (&most)[2], float (&sum)[2],
                 const typename E::bits *q, const struct params &p, u64 cached, int begin, int end)
{
  typedef typename E::bits bits;
  SHARED(uint4, weights, decode_warps * few_queries * deep_weight * sizeof(bits) / 16);
  const unsigned warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  bits *const w = (bits *)weights + warp * few_queries * deep_weight;  // the exponentials by queries
  const int step = decode_warps * decode_tile, own = (int)warp * decode_tile;
  const char *const keys = p.cache_keys + cached * sizeof(bits), *const values = p.cache_values + cached * sizeof(bits);
  const unsigned size = (unsigned)p.size, wide = (unsigned)p.keys * size;
  unit<E> k[2][4], v[4][2];
  enum { parts = deep<head_most>::parts };
  load_keys<E>(k, keys, wide, size, 0, begin + own, end);
  load_values<E>(v, values, wide, size, 0, begin + own, end);
  for (int at = begin + own; at - own < end; at += step) {
    float s[4] = {};  // of positions g and g+8
#pragma unroll
    for (unsigned part = 0; part < parts; part++) {
#pragma unroll
      for (unsigned c = 0; c < 4; c++) {
        const unit<E> x = load_unit<E>((const char *)q, g * deep<head_most>::query + part * part_most + c * 32 + t * 8);
        for (unsigned e = 0; e < 8; e += 4) {
          const two<E> a[4] = {two_of(k[0][c], e), two_of(k[1][c], e), two_of(k[0][c], e + 2),
                               two_of(k[1][c], e + 2)};
          const two<E> b[2] = {two_of(x, e), two_of(x, e + 2)};
          multiply(s, a, b);
        }
      }
      load_keys<E>(k, keys, wide, size, (part + 1) % parts, part + 1 < parts ? at : at + step, end);
    }
    __syncwarp();  // all have read the exponentials before
    for (unsigned j = 0; j < 2; j++) {
      float x[2], greatest = most[j];
      for (unsigned i = 0; i < 2; i++) {
        x[i] = at + (int)(8 * i + g) < end ? score(s[2 * i + j], p) : MINUS_INFINITY;
        greatest = greater(x[i], greatest);
      }
      for (unsigned bit = 4; bit < 32; bit *= 2) {
        greatest = greater(greatest, across(greatest, bit));
      }
      const float less = greatest == MINUS_INFINITY ? 0.0f : greatest, shrink = exponential(most[j] - less);
      most[j] = greatest;
      sum[j] *= shrink;
      for (unsigned i = 0; i < 2; i++) {
        const float weight = exponential(x[i] - less);
        sum[j] += weight;
        w[(2 * t + j) * deep_weight + 8 * i + g] = (bits)E::narrow(weight);
      }
      for (unsigned e = 0; e < 8 * parts; e++) {
        sums[e / 8][e % 8][j] *= shrink;
        sums[e / 8][e % 8][2 + j] *= shrink;
      }
    }
    __syncwarp();
    const two<E> b[2] = {*(const two<E> *)(w + g * deep_weight + 2 * t),
                         *(const two<E> *)(w + g * deep_weight + 2 * t + 8)};
#pragma unroll
    for (unsigned part = 0; part < parts; part++) {
#pragma unroll
      for (unsigned e = 0; e < 8; e++) {
        two<E> a[4];
        for (unsigned i = 0; i < 4; i++) {
          a[i] = {bits_of(v[i / 2 * 2][i % 2], e), bits_of(v[i / 2 * 2 + 1][i % 2], e)};
        }
        multiply(sums[part][e], a, b);
      }
      load_values<E>(v, values, wide, size, (part + 1) % parts, part + 1 < parts ? at : at + step, end);
    }
  }
  for (unsigned j = 0; j < 2; j++) {
    for (unsigned bit = 4; bit < 32; bit *= 2) {
      sum[j] += across(sum[j], bit);
    }
  }
}

// join makes a row's result for a query head of what its stretches have.
template <typename E>
DEVICE void join(const struct params &p, u64 query, unsigned heads, unsigned stretches)
{
  const unsigned fours = (unsigned)p.size / 4;
  each_thread(e, heads * fours) {
    const unsigned c = (unsigned)e % fours * 4, one = (unsigned)e / fours;
    uint4 first[most_stretches] = {}, values[most_stretches] = {};
    for (unsigned i = 0; i < most_stretches; i++) {
      if (i < stretches) {
        first[i] = *(const uint4 *)part_of(p, query + one, i);
        values[i] = *(const uint4 *)(part_of(p, query + one, i) + 4 + c);
      }
    }
    float most = MINUS_INFINITY, sum = 0.0f, x[4] = {};
    for (unsigned i = 0; i < most_stretches; i++) {
      most = i < stretches ? greater(__uint_as_float(first[i].x), most) : most;
    }
    for (unsigned i = 0; i < most_stretches; i++) {
      const float weight = i < stretches ? exponential(__uint_as_float(first[i].x) - most) : 0.0f;
      const unsigned words[4] = {values[i].x, values[i].y, values[i].z, values[i].w};
      sum += weight * __uint_as_float(first[i].y);
      for (unsigned j = 0; j < 4; j++) {
        x[j] += weight * __uint_as_float(words[j]);
      }
    }
    for (unsigned j = 0; j < 4; j++) {
      save<E>(p.to, (query + one) * p.size + c + j, x[j] / sum);
    }
  }
}

DEVICE unsigned plus(unsigned bits, float x) { return __float_as_uint(__uint_as_float(bits) + x); }

// add_up adds up what the warps of a block have, in turn: all gets a row for each query head, as parts have it.
template <unsigned parts>
DEVICE void add_up(float *all, const float (&sums)[parts][8][4], const float (&most)[2], const float (&sum)[2])
{
  SHARED(float, mosts, decode_warps * few_queries);
  const unsigned warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned j = 0; j < 2; j++) {
    mosts[warp * few_queries + 2 * t + j] = most[j];
  }
  __syncthreads();
  float shrink[2], greatest[2];
  for (unsigned j = 0; j < 2; j++) {
    greatest[j] = MINUS_INFINITY;
    for (unsigned w = 0; w < decode_warps; w++) {
      greatest[j] = greater(mosts[w * few_queries + 2 * t + j], greatest[j]);
    }
    shrink[j] = exponential(most[j] - greatest[j]);
  }
  for (unsigned w = 0; w < decode_warps; w++) {
    for (unsigned j = 0; w == warp && j < 2; j++) {
      float *const to = all + (2 * t + j) * deep<parts * part_most>::sum;
      if (g == 0) {
        to[0] = greatest[j];
        to[1] = (w > 0 ? to[1] : 0.0f) + sum[j] * shrink[j];
      }
      for (unsigned i = 0; i < 4 * parts; i++) {  // 16 bytes at a time
        uint4 *const four = (uint4 *)(to + 4 + i / 2 * 64 + g * 8 + i % 2 * 4);
        const float (*const mine)[4] = sums[i / 4] + i % 2 * 4;
        const unsigned n = i % 4 / 2 * 2 + j;
        const uint4 x = w > 0 ? *four : uint4{};
        *four = {plus(x.x, mine[0][n] * shrink[j]), plus(x.y, mine[1][n] * shrink[j]),
                 plus(x.z, mine[2][n] * shrink[j]), plus(x.w, mine[3][n] * shrink[j])};
      }
    }
    __syncthreads();
  }
}

// put_queries puts so many query heads of a row, rotated, into memory of the block. All are loaded, then all are
// stored: so the loads are on their way at once.
template <typename E, unsigned head_most>
DEVICE void put_queries(typename E::bits *q, const struct params &p, u64 from, unsigned heads, int position)
{
  for (unsigned e = threadIdx.x; e < head_most; e += decode_threads) {
    typename E::bits x[few_queries];
    for (unsigned r = 0; r < few_queries; r++) {
      x[r] = r < heads && e < p.size
        ? (typename E::bits)E::narrow(rotated<E>(p.query, from + r * p.size, e, position, p)) : 0;
    }
    for (unsigned r = 0; r < few_queries; r++) {
      q[r * deep<head_most>::query + e] = x[r];
    }
  }
}

template <typename E, unsigned head_most>
DEVICE void decode_heads(const struct params &p)
{
  enum { deep_query = deep<head_most>::query, deep_sum = deep<head_most>::sum, parts = deep<head_most>::parts };
  SHARED(uint4, queries, few_queries * deep_query * sizeof(typename E::bits) / 16);
  SHARED(uint4, block, few_queries * deep_sum / 4);
  SHARED(unsigned, ends, 1);
  typename E::bits *const q = (typename E::bits *)queries;
  float *const all = (float *)block;
  const unsigned size = (unsigned)p.size, fews = ((unsigned)p.group + few_queries - 1) / few_queries;
  const unsigned each = (unsigned)p.keys * fews, most_items = (unsigned)p.count * each;  // of a row, of a stretch
  each_item(i, most_items * most_stretches) {
    const unsigned of = (unsigned)i % most_items / each, part = (unsigned)i / most_items;
    const unsigned head = (unsigned)i % each / fews, few = (unsigned)i % fews * few_queries;
    const struct row row = p.rows[of];
    const int stretch = stretch_of(row.position), stretches = row.position / stretch + 1, begin = (int)part * stretch;
    const int end = begin + stretch > row.position ? row.position + 1 : begin + stretch;
    const u64 query = first_query(p, head) + few, behind = first_query(p, head + 1), result = of * p.queries + query;
    if (begin > row.position || query >= behind) {
      continue;
    }
    const unsigned heads = behind - query < few_queries ? (unsigned)(behind - query) : few_queries;
    __syncthreads();
    if (end > row.position) {
      store<E>(p, of, head);
    }
    put_queries<E, head_most>(q, p, of * p.wide_query + query * size, heads, row.position);
    __syncthreads();
    float sums[parts][8][4] = {}, most[2] = {MINUS_INFINITY, MINUS_INFINITY}, sum[2] = {};
    look<E, head_most>(sums, most, sum, q, p, cached(row.sequence, 0, head, p), begin, end);
    add_up<parts>(all, sums, most, sum);
    if (stretches == 1) {
      for (unsigned r = 0; r < heads; r++) {
        each_thread(e, size) {
          save<E>(p.to, (result + r) * size + e, all[r * deep_sum + 4 + e] / all[r * deep_sum + 1]);
        }
      }
      continue;
    }
    for (unsigned r = 0; r < heads; r++) {
      each_thread(e, 1 + size / 4) {
        ((uint4 *)part_of(p, result + r, part))[e] = block[r * (deep_sum / 4) + e];
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      ends[0] = increment(p.ended + result, stretches - 1) == (unsigned)stretches - 1;
    }
    __syncthreads();
    if (ends[0]) {
      join<E>(p, result, heads, stretches);
    }
  }
}

template <typename E>
DEVICE void decode_of(const struct params &p) { decode_heads<E, 128>(p); }

template <typename E>
DEVICE void decodewide_of(const struct params &p) { decode_heads<E, 256>(p); }
