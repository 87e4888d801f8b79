// A test of the products of the tensor cores, as they are in the .cu: ranks that run them at the same time, twice.
#include <sys/mman.h>

#include "hopper.h"

#include "../check/check.cu"

#ifdef ALL
enum { ranks = 3 };
#else
enum { ranks = 2 };
#endif
enum { rows = 136, columns = 152 };
enum { broad = 80, groups = 4 };  // columns of a group of tiles, and how many groups there are

static int failures;
static unsigned depth, rounds;
static bool ordered;  // operands are such that the order of sums shows

static float digit(unsigned seed, unsigned i) { return (float)((int)((seed * 31 + i * 2654435761u) >> 28) % 3); }

// operand is an element of A or, with a seed from 100 on, of B. Where the order shows, a large product comes first, its
// negative behind 16 elements, and what lies further on is kept by a sum from front to end alone.
static float operand(unsigned seed, unsigned i)
{
  const unsigned k = i % depth;
  if (!ordered || (k != 0 && k != 16)) {
    return digit(seed, i);
  }
  return k == 16 && seed < 100 ? -16384.0f : 16384.0f;
}

// Ranks' own tensors, and the words that peers set.
struct Rank {
  unsigned short *a, *b, *c, *bias, *added, *beside, *shards, *slots;
  unsigned ready[groups][ranks], read[groups][ranks], step, counts[16];
  unsigned round;
  std::shared_ptr<Launch> launch;
};

static Rank of[ranks];

static void digits(unsigned type, unsigned short *to, unsigned seed, unsigned count)
{
  for (unsigned i = 0; i < count; i++) {
    to[i] = (unsigned short)bits_of(type, digit(seed, i));
  }
}

static void operands(unsigned type, unsigned short *to, unsigned seed, unsigned count)
{
  for (unsigned i = 0; i < count; i++) {
    to[i] = (unsigned short)bits_of(type, operand(seed, i));
  }
}

static struct Map map(const unsigned short *at, unsigned shards, unsigned width, unsigned box)
{
  return {{(u64)at, shards, rows, width, box}};
}

static struct Map weights(const Rank &r, unsigned box)
{
  return {{(u64)r.b, 1, columns, depth, box}};
}

// biases gives a kernel a rank's bias: a product of a gather, or a sum, which may end with a number of each row and an
// element of a tensor too, or with elements of four.
template <typename Params>
static auto biases(Params &p, unsigned r, int, int) -> decltype((void)p.bias) { p.bias = (const char *)of[r].bias; }

template <typename Params>
static auto more(Params &p, unsigned r, int) -> decltype((void)p.finish.c)
{
  p.finish.b = p.finish.c = (const char *)of[r].beside;
}

template <typename Params>
static void more(Params &, unsigned, long) {}

template <typename Params>
static auto most(Params &p, unsigned r, int) -> decltype((void)p.finish.e)
{
  p.finish.d = p.finish.e = (const char *)of[r].beside;
}

template <typename Params>
static void most(Params &, unsigned, long) {}

template <typename Params>
static auto biases(Params &p, unsigned r, int, long) -> decltype((void)p.finish)
{
  p.finish.a = (const char *)of[r].bias;
  p.finish.columns = columns;
  more(p, r, 0);
  most(p, r, 0);
}

template <typename Params>
static Params common(unsigned r)
{
  Params p = {};
  for (unsigned i = 0; i < ranks - 1; i++) {
    const unsigned peer = (r + 1 + i) % ranks;
    p.pre_post[i] = &of[peer].ready[0][r];
    p.pre_wait[i] = &of[r].ready[0][peer];
    p.post_post[i] = &of[peer].read[0][r];
    p.post_wait[i] = &of[r].read[0][peer];
  }
  p.peers = ranks - 1;
  p.step = &of[r].step;
  p.value = 1;
  p.blocks = of[r].counts;
  p.apart = 1;
  p.ranks = ranks, p.rank = r, p.rows = rows, p.depth = depth, p.columns = columns;
  biases(p, r, 0, 0);
  return p;
}

// A product of the shards of all ranks.
template <typename Params, void (*kernel)(Params)>
static std::shared_ptr<Launch> gathered(unsigned r, unsigned cluster, unsigned wide)
{
  Params p = common<Params>(r);
  p.own = map(of[r].a, 1, depth, 128);
  p.a = map(of[r].shards, ranks, depth, 128);
  p.b = weights(of[r], wide / cluster);
  p.c = map(of[r].c, ranks, columns, 64);
  p.dst = (char *)of[r].shards;
  for (unsigned i = 0; i < ranks - 1; i++) {
    p.shards[i] = (const char *)of[(r + 1 + i) % ranks].a;
  }
  return start(2, cluster, 384, [p] { kernel(p); });
}

// adds has a kernel that adds a tensor add a rank's.
template <typename Params>
static auto adds(Params &p, unsigned r, int) -> decltype((void)p.added) { p.added = map(of[r].added, 1, columns, 128); }

template <typename Params>
static void adds(Params &, unsigned, long) {}

// A product of which each rank gets the sum of its rows.
template <typename Params, void (*kernel)(Params)>
static std::shared_ptr<Launch> scattered(unsigned r, unsigned cluster, unsigned wide)
{
  Params p = common<Params>(r);
  p.stride = ranks, p.groups = groups, p.high = 128, p.broad = broad;
  p.slots = map(of[r].slots, ranks, columns, 128);
  p.a = map(of[r].a, ranks, depth, 128);
  p.b = weights(of[r], wide / cluster);
  p.c = map(of[r].c, 1, columns, 64);
  adds(p, r, 0);
  for (unsigned i = 0; i < ranks - 1; i++) {
    p.to[i] = map(of[(r + 1 + i) % ranks].slots + r * rows * columns, 1, columns, 64);
  }
  return start(2, cluster, 384, [p] { kernel(p); });
}

static const struct Kind {
  const char *name;
  bool scatters, adds;  // a tensor to the sums, which end with more then
  unsigned type, cluster, wide;  // types as numbers.h has them
  unsigned depth;                // 136 end in a stage that the last tile is stored through, 712 fill stages again
  unsigned rounds;
  std::shared_ptr<Launch> (*launch)(unsigned r, unsigned cluster, unsigned wide);
  bool ordered;
} kinds[] = {
    {"tiles", false, false, 2, 2, 112, 136, 2, gathered<struct tiles, tiles_fp16>, false},
    {"tiles in order", false, false, 2, 2, 112, 136, 1, gathered<struct tiles5, tiles5_fp16>, true},
    {"scatter", true, true, 1, 1, 128, 72, 2, scattered<struct scatter, scatter_bf16>, false},
    {"deep scatter", true, true, 1, 1, 128, 712, 1, scattered<struct scatter, scatter_bf16>, false},
#ifdef ALL
    {"deep tiles", false, false, 2, 2, 112, 712, 1, gathered<struct tiles, tiles_fp16>, false},
    {"tiles in bf16", false, false, 1, 2, 112, 72, 2, gathered<struct tiles, tiles_bf16>, false},
    {"tiles by blocks alone", false, false, 1, 1, 128, 72, 2, gathered<struct tiles, tiles2_bf16>, false},
    {"wide tiles", false, false, 2, 2, 176, 72, 2, gathered<struct tiles, tiles3_fp16>, false},
    {"tiles together", false, false, 1, 2, 224, 72, 2, gathered<struct tiles, tiles4_bf16>, false},
    {"scatter in fp16", true, true, 2, 1, 128, 72, 2, scattered<struct scatter, scatter_fp16>, false},
    {"wide scatter", true, false, 1, 1, 144, 72, 2, scattered<struct scatter2, scatter2_bf16>, false},
    {"scatter together", true, false, 1, 1, 256, 72, 2, scattered<struct scatter2, scatter3_bf16>, false},
#endif
};

static void fill(unsigned r, const Kind &k)
{
  operands(k.type, of[r].a, 7 * of[r].round + r, (k.scatters ? ranks : 1) * rows * depth);
  std::fill(of[r].c, of[r].c + ranks * rows * columns, 0x7fff);
}

// The product of a row of a rank's A and a column of a rank's B: the tensor cores add up 16 elements at a time.
static float product(unsigned round, unsigned by, unsigned row, unsigned weights, unsigned column)
{
  float sum = 0;
  for (unsigned k = 0; k < depth; k += 16) {
    float part = 0;
    for (unsigned i = k; i < k + 16 && i < depth; i++) {
      part += operand(7 * round + by, row * depth + i) * operand(100 + weights, column * depth + i);
    }
    sum += part;
  }
  return sum;
}

static void check(unsigned r, const Kind &k)
{
  for (unsigned row = 0; row < (k.scatters ? 1 : ranks) * rows; row++) {
    for (unsigned column = row % 3; column < columns; column += 3) {
      float want = 0;
      if (k.scatters) {
        for (unsigned by = 0; by < ranks; by++) {
          want += (float)rounded(k.type, product(of[r].round, by, r * rows + row, by, column));
        }
      } else {
        want = product(of[r].round, row / rows, row % rows, r, column);
      }
      if (k.adds) {
        want += digit(300 + r, row * columns + column);
      }
      want += digit(200 + r, column);
      if (k.adds) {
        want = want * digit(300 + r, row) + digit(300 + r, row * columns + column);
      } else if (k.scatters) {
        want += 4 * digit(300 + r, row * columns + column);
      }
      want = (float)rounded(k.type, want);
      const float got = (float)value(k.type, of[r].c[row * columns + column]);
      if (!(got == want)) {
        printf("%s: rank %u, round %u: row %u, column %u is %g, want %g\n", k.name, r, of[r].round, row, column, got,
               want);
        failures++;
        return;
      }
    }
  }
}

// fenced is room for numbers that no box copies, and behind it a page that ends whoever reads it.
static unsigned short *fenced(size_t count)
{
  const size_t page = 4096, bytes = (2 * count + page - 1) / page * page;
  char *const at = (char *)mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED || mprotect(at + bytes, page, PROT_NONE) != 0) {
    fault("the tensors have no fence");
  }
  return (unsigned short *)(at + bytes) - count;
}

static bool play(const Kind &k)
{
  arena_used = 0;
  depth = k.depth, rounds = k.rounds, ordered = k.ordered;
  for (unsigned r = 0; r < ranks; r++) {
    const auto tensor = [](size_t count) { return (unsigned short *)room(2 * count); };
    of[r] = {tensor(ranks * rows * depth), tensor(columns * depth), tensor(ranks * rows * columns), fenced(columns),
             tensor(rows * columns), fenced(rows * columns),
             tensor(ranks * rows * depth), tensor(ranks * rows * columns), {}, {}, 0, {}, 0, nullptr};
    operands(k.type, of[r].b, 100 + r, columns * depth);
    digits(k.type, of[r].bias, 200 + r, columns);
    digits(k.type, of[r].added, 300 + r, rows * columns);
    digits(k.type, of[r].beside, 300 + r, rows * columns);
    std::fill(of[r].shards, of[r].shards + ranks * rows * depth, 0x7fff);
    std::fill(of[r].slots, of[r].slots + ranks * rows * columns, 0x7fff);
    fill(r, k);
  }
  for (unsigned left = ranks * rounds; left > 0;) {
    for (unsigned r = 0; r < ranks; r++) {
      if (of[r].launch == nullptr && of[r].round < rounds && below(4) == 0) {
        of[r].launch = k.launch(r, k.cluster, k.wide);
      }
      if (of[r].launch == nullptr || of[r].launch->left > 0) {
        continue;
      }
      check(r, k);
      if (failures > 0) {
        return false;
      }
      const Launch *const gone = of[r].launch.get();
      fibers.erase(std::remove_if(fibers.begin(), fibers.end(), [gone](auto &f) { return f->launch == gone; }),
                   fibers.end());
      of[r].launch = nullptr;
      left--;
      if (++of[r].round < rounds) {
        fill(r, k);
      }
    }
    bool idle = false;
    for (unsigned i = 0; i < 100 && !fibers.empty() && !idle; i++) {
      idle = !turn();
    }
    unsigned running = 0, over = 0;
    for (const Rank &r : of) {
      running += r.launch != nullptr;
      over += r.round == rounds;
    }
    bool done = false;
    for (const Rank &r : of) {
      done = done || (r.launch != nullptr && r.launch->left == 0);
    }
    if (idle && !done && running + over == ranks && left > 0) {
      printf("%s: the threads wait for each other\n", k.name);
      return false;
    }
  }
  return true;
}

int main()
{
  for (const Kind &k : kinds) {
    if (!play(k)) {
      return 1;
    }
    for (const Rank &r : of) {
      for (unsigned count : r.counts) {
        failures += count != 0;
      }
      for (unsigned g = 0; g < groups; g++) {
        for (unsigned i = 0; i < ranks; i++) {
          failures += r.ready[g][i] != 0 || r.read[g][i] != 0;
        }
      }
      failures += r.step != 1;
    }
    if (failures > 0) {
      printf("%s: a word is wrong at the end\n", k.name);
      return 1;
    }
  }
}
