// Products by the tensor cores of compute capability 9.0a: a block's shared memory, the bias, and how results leave.
// A thread's numbers are of two rows 8 apart, and of every eighth column and the next.

#ifndef OVGEN_LOOPS

// Results leave by boxes of 64 rows and columns.
enum { box_bytes = 64 * 64 * 2 };

// boxes_of counts the boxes of a tile, wide columns together. first_of is the first column of a box: the last box may
// overlap the one before.
DEVICE constexpr unsigned boxes_of(unsigned wide) { return (wide + 63) / 64; }
DEVICE constexpr unsigned first_of(unsigned wide, unsigned box)
{
  return box * 64 < wide - 64 ? box * 64 : wide - 64;
}

// Memory is a block's shared memory: a ring of stages, boxes, and barriers of stages that are full or empty.
struct Memory { unsigned ring, box, full, empty; };

DEVICE struct Memory memory_of_block(unsigned stages, unsigned stage_bytes, unsigned boxes)
{
  extern __shared__ __align__(1024) char memory[];
  const unsigned ring = shared_address(memory), box = ring + stages * stage_bytes, full = box + 2 * boxes * box_bytes;
  return {ring, box, full, full + 8 * stages};
}

// init readies the barriers: one thread fills a stage, and as many as arrivals says arrive when it is empty.
DEVICE void init(const struct Memory &m, unsigned stages, unsigned arrivals)
{
  for (unsigned i = 0; i < stages; i++) {
    barrier_init(m.full + 8 * i, 1);
    barrier_init(m.empty + 8 * i, arrivals);
  }
  barriers_ready();
}

// load_bias loads the bias of a thread's columns, two at a time.
template <typename E, unsigned pairs>
DEVICE void load_bias(const char *row, u64 columns, unsigned (&bias)[pairs], unsigned first)
{
  const typename E::bits *const from = (const typename E::bits *)row;
#pragma unroll
  for (unsigned i = 0; i < pairs; i++) {
    const unsigned column = first + i * 8 + threadIdx.x % 4 * 2;
    bias[i] = column < (unsigned)columns ? from[column] | (unsigned)from[column + 1] << 16 : 0;
  }
}

template <typename E, unsigned subtiles, unsigned numbers>
DEVICE void add_bias(float (&d)[subtiles][numbers], const unsigned (&bias)[numbers / 4])
{
#pragma unroll
  for (unsigned s = 0; s < subtiles; s++) {
#pragma unroll
    for (unsigned i = 0; i < numbers; i++) {
      d[s][i] += E::widen(i % 2 == 0 ? bias[i / 4] & 0xffff : bias[i / 4] >> 16);
    }
  }
}

// Pair makes a word of two elements.
template <typename E>
struct Pair;

template <>
struct Pair<struct bf16> {
  DEVICE unsigned of(float low, float high)
  {
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
  }
};

template <>
struct Pair<struct fp16> {
  DEVICE unsigned of(float low, float high)
  {
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
  }
};

// add_pair adds the two elements of a word to two numbers.
template <typename E>
DEVICE void add_pair(float *d, unsigned both)
{
  d[0] += E::widen(both & 0xffff);
  d[1] += E::widen(both >> 16);
}

// store brings a warpgroup's 64 rows to a shard of a tensor, by boxes. Behind the last tile of a block each box has a
// place of its own in the ring, which is idle then; else the boxes take turns, with nanoseconds between them where it
// pauses: boxes on their way to a peer hold up the loads of operands behind them, and so leave one by one while the
// other warpgroup multiplies.
template <typename E, unsigned boxes, bool pauses, unsigned numbers>
DEVICE void store(const struct Map *c, unsigned shard, const float (&d)[numbers], struct Tile tile, unsigned at,
                  unsigned apart, bool last, unsigned &turn, unsigned pause = 0)
{
  const unsigned wide = 2 * numbers;
  const unsigned thread = threadIdx.x % 128, group = threadIdx.x / 128, lane = threadIdx.x % 32;
  const unsigned line = thread / 32 * 16 + lane % 16;
#pragma unroll
  for (unsigned box = 0; box < boxes_of(wide); box++) {
    const unsigned to = at + (last ? box : turn++ % boxes) * apart;
    if (!last) {
      if (thread == 0) {
        boxes_left<boxes - 1>();
        if (pauses) {
          rest(pause);
        }
      }
      meet(group, 128);
    }
#pragma unroll
    for (unsigned quarter = 0; quarter < 4; quarter++) {
      const unsigned i = first_of(wide, box) / 2 + quarter * 8;
      unsigned x[4];  // of two columns each, in rows 8 apart, and then of columns 8 further on
#pragma unroll
      for (unsigned j = 0; j < 4; j++) {
        x[j] = Pair<E>::of(d[i + 2 * j], d[i + 2 * j + 1]);
      }
      store_matrices(to + line * 128 + ((2 * quarter + lane / 16) ^ line % 8) * 16, x);
    }
    shared_written();
    meet(group, 128);
    if (thread == 0) {
      store_box(c, to, tile.column + first_of(wide, box), tile.row, shard);
    }
  }
}

#endif
