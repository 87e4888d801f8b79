// decode takes at most 8 query heads of a row that read one head of keys, so that each key and value is read once. The
// warps of a block share out the positions of a stretch by tiles of 16, and read them from the cache into the registers
// that a product wants: in the operands of mma.sync thread 4g+t of a warp has elements 2t, 2t+1, 2t+8 and 2t+9 of what
// is summed over, but their order is free. So for scores it has 8 elements side by side of a key, for two products, and
// for results 8 elements side by side of the values of four positions, for eight. What the next tile needs is loaded as
// soon as its registers are free. They hold 128 elements of a head, and of wider ones a part at a time.
//
// A stretch's length, and so each result's bits, depend on the row's position alone. How many blocks share a row's
// stretches does not change them: the host says it with the row, by the lengths of all. A block loads the first tile of
// its next stretch before it adds up what its warps have of one. The block that ends last of a row and head joins the
// stretches.
//
// decodefew is for few rows: ahead of the end of the launch before, it reads its row, and loads what earlier steps have
// put into the cache. So each step must be a graph of its own, which starts when the one before has ended: nothing of
// its own step writes either. By many rows that takes longer: where blocks come while a product's are still there,
// which leave the first cache little room, they read the cache by up to a sixth more slowly.

enum { few_queries = 8, decode_tile = 16, decode_warps = 4, decode_threads = 32 * decode_warps };
enum { most_stretches = 16, least_stretch = 128 };
enum { part_most = 128 };  // elements of a part of a head
enum { deep_weight = decode_tile + 2, deep_sum = 4 + part_most };  // from row to row

// deep are the elements from row to row of queries, and the parts of a head.
template <unsigned most>
struct deep { enum { query = most + 8, parts = most / part_most }; };

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

// load_cached loads n units of 8 elements of a position from an element of a head on, so far apart; zeros where there
// are none.
template <typename E, unsigned n, unsigned apart>
DEVICE void load_cached(unit<E> (&v)[n], const char *cache, const struct params &p, u64 head, unsigned first,
                        int position, int end)
{
  const unsigned size = (unsigned)p.size;
  const char *const from = cache + head * sizeof(typename E::bits);
  const u64 at = (unsigned)position * (unsigned)p.keys * size + first;
  for (unsigned i = 0; i < n; i++) {
    v[i] = position < end && first + i * apart < size ? load_unit<E>(from, at + i * apart) : unit<E>{};
  }
}

// load_keys loads a part of the keys of a tile of a head: of positions g and g+8 elements 32c+8t to 32c+8t+7.
template <typename E>
DEVICE void load_keys(unit<E> (&k)[2][4], const struct params &p, u64 head, unsigned part, int at, int end)
{
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned n = 0; n < 2; n++) {
    load_cached<E, 4, 32>(k[n], p.cache_keys, p, head, part * part_most + t * 8, at + (int)(n * 8 + g), end);
  }
}

// load_values loads a part of the values of a tile of a head: of positions 2t, 2t+1, 2t+8 and 2t+9 elements 64h+8g to
// 64h+8g+7.
template <typename E>
DEVICE void load_values(unit<E> (&v)[4][2], const struct params &p, u64 head, unsigned part, int at, int end)
{
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned i = 0; i < 4; i++) {
    load_cached<E, 2, 64>(v[i], p.cache_values, p, head, part * part_most + g * 8,
                          at + (int)(2 * t + i % 2 + i / 2 * 8), end);
  }
}

// tile is what a thread has of the first part of a tile.
template <typename E>
struct tile {
  enum { ahead = sizeof(typename E::bits) == 2 };  // there are registers for the next one, of 16 bits, beside all else
  unit<E> k[2][4], v[4][2];
};

template <typename E>
DEVICE void load_tile(struct tile<E> &now, const struct params &p, u64 head, int at, int end)
{
  load_keys<E>(now.k, p, head, 0, at, end);
  load_values<E>(now.v, p, head, 0, at, end);
}

// bring_tile has the second cache load what a warp's tile at a position needs, but for positions from end on.
template <typename E>
DEVICE void bring_tile(const struct params &p, u64 head, int at, int end)
{
  const unsigned size = (unsigned)p.size * sizeof(typename E::bits), lines = size / 128;
  for (unsigned i = threadIdx.x % 32; i < decode_tile * lines; i += 32) {
    const int position = at + (int)(i / lines);
    if (position < end) {
      const u64 from = head * sizeof(typename E::bits) + (u64)((unsigned)position * (unsigned)p.keys) * size;
      bring(p.cache_keys + from + i % lines * 128);
      bring(p.cache_values + from + i % lines * 128);
    }
  }
}

// share is a block's share of a row: every so many of its stretches from first to last, for so many query heads. It is
// in memory of the block, since registers are for tiles.
struct share {
  u64 place, result;  // of the head in the cache, and of the first query head among all results
  unsigned heads;
  int first, blocks, last, stretch, positions;
};

// look has a warp's queries look at its tiles of stretch n, of which it has the first; then it has the first one of the
// block's next stretch. Stretches end with a tile or with the last position. Of queries 2t and 2t+1 a thread gets the
// greatest score, the sum of the exponentials, and sums, where element 64h+8g+e of a part of query 2t+j is
// [part][e][2h+j].
template <typename E, unsigned head_most>
DEVICE void look(float (&sums)[head_most / part_most][8][4], float (&most)[2], float (&sum)[2], struct tile<E> &now,
                 const typename E::bits *q, const struct params &p, const struct share &of, int n)
{
  typedef typename E::bits bits;
  SHARED(uint4, weights, decode_warps * few_queries * deep_weight * sizeof(bits) / 16);
  const unsigned warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  bits *const w = (bits *)weights + warp * few_queries * deep_weight;  // the exponentials by queries
  const int step = decode_warps * decode_tile, own = (int)warp * decode_tile;
  unit<E> (&k)[2][4] = now.k, (&v)[4][2] = now.v;
  enum { parts = deep<head_most>::parts };
  const int all = of.positions, end = n < of.last ? (n + 1) * of.stretch : all;
  for (int at = n * of.stretch + own; at - own < end; at += step) {
    // the tile that is loaded ahead
    const int then = at - own + step < end ? at + step : (n + of.blocks) * of.stretch + own;
    if (!tile<E>::ahead) {
      load_keys<E>(k, p, of.place, 0, at, all);
    }
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
      const bool same = part + 1 < parts;
      if (same || tile<E>::ahead) {
        load_keys<E>(k, p, of.place, (part + 1) % parts, same ? at : then, all);
      }
    }
    __syncwarp();  // all have read the exponentials before
    for (unsigned j = 0; j < 2; j++) {
      float x[2], greatest = most[j];
      for (unsigned i = 0; i < 2; i++) {
        x[i] = at + (int)(8 * i + g) < all ? score(s[2 * i + j], p) : MINUS_INFINITY;
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
    if (!tile<E>::ahead) {
      load_values<E>(v, p, of.place, 0, at, all);
    }
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
      const bool same = part + 1 < parts;
      if (same || tile<E>::ahead) {
        load_values<E>(v, p, of.place, (part + 1) % parts, same ? at : then, all);
      }
    }
  }
  for (unsigned j = 0; j < 2; j++) {
    for (unsigned bit = 4; bit < 32; bit *= 2) {
      sum[j] += across(sum[j], bit);
    }
  }
}

// weighed are a stretch's sum of exponentials, and the weight of all that it has.
struct weighed { float sum, weight; };

// weigh weighs the stretches of a block's query heads, a thread one of them.
DEVICE void weigh(struct weighed *to, const struct params &p, u64 query, unsigned heads, unsigned stretches)
{
  const unsigned head = threadIdx.x / most_stretches, stretch = threadIdx.x % most_stretches;
  float most = MINUS_INFINITY, sum = 0.0f;
  if (head < heads && stretch < stretches) {
    const uint4 lead = *(const uint4 *)part_of(p, query + head, stretch);
    most = __uint_as_float(lead.x);
    sum = __uint_as_float(lead.y);
  }
  float greatest = most;
  for (unsigned bit = 1; bit < most_stretches; bit *= 2) {
    greatest = greater(greatest, across(greatest, bit));
  }
  to[threadIdx.x] = {sum, head < heads && stretch < stretches ? exponential(most - greatest) : 0.0f};
}

// join makes a row's results for query heads of what its stretches have. The values are on their way while the
// stretches are weighed.
template <typename E>
DEVICE void join(const struct params &p, u64 query, unsigned heads, unsigned stretches)
{
  SHARED(struct weighed, weights, few_queries * most_stretches);
  const unsigned fours = (unsigned)p.size / 4;
  for (unsigned first = 0; first < heads * fours; first += decode_threads) {
    const unsigned at = first + threadIdx.x, head = at / fours, c = at % fours * 4;
    const bool there = head < heads;
    const float *from = part_of(p, query + head, 0) + 4 + c;
    uint4 values[most_stretches] = {};
    for (unsigned i = 0; i < most_stretches; i++, from += 4 + p.size) {
      if (there && i < stretches) {
        values[i] = *(const uint4 *)from;
      }
    }
    if (first == 0) {
      weigh(weights, p, query, heads, stretches);
      __syncthreads();
    }
    float sum = 0.0f, x[4] = {};
    for (unsigned i = 0; there && i < most_stretches; i++) {
      const struct weighed w = weights[head * most_stretches + i];
      const unsigned words[4] = {values[i].x, values[i].y, values[i].z, values[i].w};
      sum += w.weight * w.sum;
      for (unsigned j = 0; j < 4; j++) {
        x[j] += w.weight * __uint_as_float(words[j]);
      }
    }
    for (unsigned j = 0; there && j < 4; j++) {
      save<E>(p.to, (query + head) * p.size + c + j, x[j] / sum);
    }
  }
}

// put_sums puts what a warp has of a stretch and a part of the heads into memory of the block: a row for each query
// head, as parts have it.
DEVICE void put_sums(float *warps, const float (&sums)[8][4], const float (&most)[2], const float (&sum)[2])
{
  const unsigned warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned j = 0; j < 2; j++) {
    float *const to = warps + (warp * few_queries + 2 * t + j) * deep_sum;
    if (g == 0) {
      to[0] = most[j];
      to[1] = sum[j];
    }
    for (unsigned i = 0; i < 4; i++) {  // 16 bytes at a time
      const float (*const mine)[4] = sums + i % 2 * 4;
      const unsigned n = i / 2 * 2 + j;
      *(uint4 *)(to + 4 + i / 2 * 64 + g * 8 + i % 2 * 4) = {__float_as_uint(mine[0][n]), __float_as_uint(mine[1][n]),
                                                             __float_as_uint(mine[2][n]), __float_as_uint(mine[3][n])};
    }
  }
}

// added is a query head's result so far: the greatest score, the sum of the exponentials, and four weighted sums.
struct added { float most, sum, x[4]; };

// add_up adds up what the warps of a block have of a query head, in their order, with four elements from c on.
DEVICE struct added add_up(const float *warps, unsigned query, unsigned c)
{
  struct added all = {MINUS_INFINITY, 0.0f, {}};
  for (unsigned w = 0; w < decode_warps; w++) {
    all.most = greater(warps[(w * few_queries + query) * deep_sum], all.most);
  }
  for (unsigned w = 0; w < decode_warps; w++) {
    const float *const of = warps + (w * few_queries + query) * deep_sum;
    const float shrink = exponential(of[0] - all.most);
    const uint4 four = *(const uint4 *)(of + 4 + c);
    const unsigned words[4] = {four.x, four.y, four.z, four.w};
    all.sum += of[1] * shrink;
    for (unsigned i = 0; i < 4; i++) {
      all.x[i] += __uint_as_float(words[i]) * shrink;
    }
  }
  return all;
}

// store_added stores four elements of a part from c on, and with the first of them its lead. Every layer writes parts
// where the layer before did, so that memory need not take them.
DEVICE void store_added(float *part, unsigned c, const struct added &all)
{
  if (c == 0) {
    store_kept(part, {__float_as_uint(all.most), __float_as_uint(all.sum), 0, 0});
  }
  store_kept(part + 4 + c, {__float_as_uint(all.x[0]), __float_as_uint(all.x[1]), __float_as_uint(all.x[2]),
                            __float_as_uint(all.x[3])});
}

// pairs are two elements of a head side by side, and the two half a head on.
template <typename E>
struct pairs { two<E> low, high; };

// load_pairs loads pairs from an element on, the c-th of a head, and turns them by a position.
template <typename E>
DEVICE struct pairs<E> load_pairs(const char *from, u64 head, unsigned c, int position, const struct params &p)
{
  typedef typename E::bits bits;
  const unsigned half = (unsigned)p.size / 2;
  const two<E> x = *(const two<E> *)(from + (head + c) * sizeof(bits));
  const two<E> y = *(const two<E> *)(from + (head + c + half) * sizeof(bits));
  const uint4 v = *(const uint4 *)(p.angles + ((unsigned)position * half + c) * 2);
  const float turns[4] = {__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z), __uint_as_float(v.w)};
  const float x0 = E::widen(x.x), x1 = E::widen(x.y), y0 = E::widen(y.x), y1 = E::widen(y.y);
  return {{(bits)E::narrow(turned(x0, y0, turns)), (bits)E::narrow(turned(x1, y1, turns + 2))},
          {(bits)E::narrow(beyond(x0, y0, turns)), (bits)E::narrow(beyond(x1, y1, turns + 2))}};
}

// of_row is what a thread has of a row: pairs of the queries and, where its block stores these, of the key, and two
// elements of the value. All are loaded at once, ahead of all stores.
template <typename E, unsigned head_most>
struct of_row {
  enum { fours = head_most / 4, each = few_queries * fours / decode_threads };
  struct pairs<E> query[each], key;
  two<E> value;
};

template <typename E, unsigned head_most>
DEVICE void load_row(struct of_row<E, head_most> &x, const struct params &p, u64 of, u64 head, u64 query,
                     unsigned heads, int position, bool own)
{
  enum { fours = of_row<E, head_most>::fours };
  const unsigned size = (unsigned)p.size, first = threadIdx.x * 2;
  for (unsigned i = 0; i < of_row<E, head_most>::each; i++) {
    const unsigned at = threadIdx.x + i * decode_threads, r = at / fours, c = at % fours * 2;
    x.query[i] = r < heads && c < size / 2
      ? load_pairs<E>(p.query, of * p.wide_query + (query + r) * size, c, position, p) : pairs<E>{};
  }
  const u64 from = of * p.wide_key + head * size;
  if (own && first < size / 2) {
    x.key = load_pairs<E>(p.key, from, first, position, p);
  }
  if (own && first < size) {
    x.value = *(const two<E> *)(p.value + (from + first) * sizeof(typename E::bits));
  }
}

// put_row stores the queries in memory of the block, with zeros where there are none, and the key and value in the
// cache.
template <typename E, unsigned head_most>
DEVICE void put_row(typename E::bits *q, const struct of_row<E, head_most> &x, const struct params &p, u64 place,
                    bool own)
{
  typedef typename E::bits bits;
  enum { fours = of_row<E, head_most>::fours };
  const unsigned size = (unsigned)p.size, half = size / 2, first = threadIdx.x * 2;
  for (unsigned i = 0; i < of_row<E, head_most>::each; i++) {
    const unsigned at = threadIdx.x + i * decode_threads, c = at % fours * 2;
    const unsigned low = c < half ? c : size + (c - half) * 2, high = c < half ? c + half : low + 2;
    bits *const row = q + at / fours * deep<head_most>::query;
    *(two<E> *)(row + low) = x.query[i].low;
    *(two<E> *)(row + high) = x.query[i].high;
  }
  if (own && first < half) {
    *(two<E> *)(p.cache_keys + (place + first) * sizeof(bits)) = x.key.low;
    *(two<E> *)(p.cache_keys + (place + first + half) * sizeof(bits)) = x.key.high;
  }
  if (own && first < size) {
    *(two<E> *)(p.cache_values + (place + first) * sizeof(bits)) = x.value;
  }
}

// last_of_row is whether a block ends the last of a row's groups of query heads, whose results are all there then.
DEVICE bool last_of_row(unsigned *ends, const struct params &p, u64 row)
{
  __syncthreads();  // the block's own are
  if (threadIdx.x == 0) {
    unsigned groups = 0;
    for (u64 head = 0; head < p.keys; head++) {
      groups += (unsigned)(first_query(p, head + 1) - first_query(p, head) + few_queries - 1) / few_queries;
    }
    ends[0] = increment(p.ended + p.count * p.queries + row, groups - 1) == groups - 1;
  }
  __syncthreads();
  return ends[0];
}

// codes_of_heads makes eight bits of what attention makes of a row.
template <typename E>
DEVICE void codes_of_heads(float *numbers, const struct params &p, u64 row)
{
  const u64 wide = p.queries * p.size;
  codes_of_row(numbers, p, row, wide, [&](u64 at) { return load_some<E>(p.to, row * wide + at, together(wide)); });
}

template <typename E>
DEVICE void codes_of(const struct params &p)
{
  SHARED(float, numbers, most_threads);
  each_item(i, p.count) {
    codes_of_heads<E>(numbers, p, i);
  }
}

// decode_heads waits for the launch before where it is early; all of its threads do, before they end.
template <typename E, unsigned head_most, bool early>
DEVICE void decode_heads(const struct params &p)
{
  typedef typename E::bits bits;
  enum { deep_query = deep<head_most>::query, parts = deep<head_most>::parts };
  SHARED(uint4, queries, few_queries * deep_query * sizeof(bits) / 16);
  SHARED(uint4, block, decode_warps * few_queries * deep_sum / 4);
  SHARED(unsigned, ends, 1);
  SHARED(struct share, of_block, 1);
  bits *const q = (bits *)queries;
  float *const warps = (float *)block;
  const unsigned size = (unsigned)p.size, fews = ((unsigned)p.group + few_queries - 1) / few_queries;
  const unsigned each = (unsigned)p.keys * fews, items = (unsigned)p.count * each, i = blockIdx.x;
  if (items == 0) {  // as Load launches it, behind nothing
    return;
  }
  const unsigned of = i % items / each, first = i / items, most = gridDim.x / items;  // blocks that can share a row
  const unsigned head = i % each / fews, few = i % fews * few_queries;
  const struct row row = p.rows[of];
  const int stretch = stretch_of(row.position), last = row.position / stretch;
  const unsigned shares = row.blocks < most ? row.blocks : most;
  const unsigned blocks = shares < (unsigned)last + 1 ? shares : (unsigned)last + 1;
  const u64 query = first_query(p, head) + few, behind = first_query(p, head + 1), result = of * p.queries + query;
  if (first >= blocks || query >= behind) {
    if (early) {
      last_has_ended();
    }
    return;
  }
  const unsigned heads = behind - query < few_queries ? (unsigned)(behind - query) : few_queries;
  const u64 place = cached(row.sequence, 0, head, p);
  const int own = (int)first * stretch + (int)(threadIdx.x / 32) * decode_tile;
  const bool stores = (unsigned)last % blocks == first;
  struct of_row<E, head_most> x;
  struct tile<E> now;
  if (!early) {
    load_row(x, p, of, head, query, heads, row.position, stores);
  }
  if (tile<E>::ahead) {
    load_tile<E>(now, p, place, own, row.position);  // without the row's own position, which is not stored yet
  }
  if (early) {
    bring_tile<E>(p, place, own + decode_warps * decode_tile, row.position);
    last_has_ended();
    load_row(x, p, of, head, query, heads, row.position, stores);
  }
  put_row(q, x, p, cached(row.sequence, row.position, head, p), stores);
  if (threadIdx.x == 0) {
    of_block[0] = {place, result, heads, (int)first, (int)blocks, last, stretch, row.position + 1};
  }
  __syncthreads();
  if (tile<E>::ahead && own <= row.position && row.position < own + decode_tile) {
    load_tile<E>(now, p, place, own, row.position + 1);
  }
  const struct share &my = of_block[0];
#pragma unroll 1
  for (int n = my.first; n <= my.last; n += my.blocks) {
    float sums[parts][8][4] = {}, greatest[2] = {MINUS_INFINITY, MINUS_INFINITY}, sum[2] = {};
    look<E, head_most>(sums, greatest, sum, now, q, p, my, n);
#pragma unroll
    for (unsigned from = 0; from < head_most; from += part_most) {
      __syncthreads();  // all have read what the warps had before
      put_sums(warps, sums[from / part_most], greatest, sum);
      __syncthreads();
      const unsigned fours = greater((int)size - (int)from, 0) < part_most ? (size - from) / 4 : part_most / 4;
      for (unsigned e = threadIdx.x; e < my.heads * fours; e += decode_threads) {
        const unsigned r = e / fours, c = e % fours * 4;
        const struct added all = add_up(warps, r, c);
        if (my.last > 0) {
          store_added(part_of(p, my.result + r, n), from + c, all);
          continue;
        }
        for (unsigned k = 0; k < 4; k++) {
          save<E>(p.to, (my.result + r) * size + from + c + k, all.x[k] / all.sum);
        }
      }
    }
  }
  if (my.last > 0) {
    __syncthreads();
    if (threadIdx.x == 0) {
      ends[0] = increment(p.ended + my.result, (unsigned)my.blocks - 1) == (unsigned)my.blocks - 1;
    }
    __syncthreads();
    if (!ends[0]) {
      return;
    }
    join<E>(p, my.result, my.heads, (unsigned)my.last + 1);
  }
  if (p.codes != nullptr && last_of_row(ends, p, my.result / p.queries)) {
    codes_of_heads<E>(warps, p, my.result / p.queries);
  }
}

template <typename E>
DEVICE void decode_of(const struct params &p) { decode_heads<E, 128, false>(p); }

template <typename E>
DEVICE void decodefew_of(const struct params &p) { decode_heads<E, 128, true>(p); }

template <typename E>
DEVICE void decodewide_of(const struct params &p) { decode_heads<E, 256, false>(p); }
