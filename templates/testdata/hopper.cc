// A test of the products of the tensor cores, as they are in the .cu: ranks that run them at the same time, twice.
#include "hopper.h"

#include "check.cu"

#ifdef TOGETHER
enum { ranks = 3 };
#else
enum { ranks = 2 };
#endif
enum { rows = 136, depth = 72, columns = 152, rounds = 2 };

static int failures;

static float number(unsigned seed, unsigned i) { return (float)((int)((seed * 31 + i * 2654435761u) >> 28) % 3); }

static float rounded(float x) { return same_bits<float>(bfloat(x) << 16); }

// Ranks' own tensors, and the words that peers set.
struct Rank {
  unsigned short *a, *b, *c, *bias, *shards, *slots;
  unsigned ready[ranks], read[ranks], step, counts[16];
  unsigned round;
  std::shared_ptr<Launch> launch;
};

static Rank of[ranks];

static void numbers(unsigned short *to, unsigned seed, unsigned count)
{
  for (unsigned i = 0; i < count; i++) {
    to[i] = (unsigned short)(same_bits<unsigned>(number(seed, i)) >> 16);
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

template <typename Params>
static Params common(unsigned r)
{
  Params p = {};
  for (unsigned i = 0; i < ranks - 1; i++) {
    const unsigned peer = (r + 1 + i) % ranks;
    p.pre_post[i] = &of[peer].ready[r];
    p.pre_wait[i] = &of[r].ready[peer];
    p.post_post[i] = &of[peer].read[r];
    p.post_wait[i] = &of[r].read[peer];
  }
  p.peers = ranks - 1;
  p.step = &of[r].step;
  p.value = 1;
  p.blocks = of[r].counts;
  p.apart = 1;
  p.ranks = ranks, p.rank = r, p.rows = rows, p.depth = depth, p.columns = columns;
  p.bias = (const char *)of[r].bias;
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

// A product of which each rank gets the sum of its rows.
template <typename Params, void (*kernel)(Params)>
static std::shared_ptr<Launch> scattered(unsigned r, unsigned cluster, unsigned wide)
{
  Params p = common<Params>(r);
  p.slots = map(of[r].slots, ranks, columns, 128);
  p.a = map(of[r].a, ranks, depth, 128);
  p.b = weights(of[r], wide / cluster);
  p.c = map(of[r].c, 1, columns, 64);
  for (unsigned i = 0; i < ranks - 1; i++) {
    p.to[i] = map(of[(r + 1 + i) % ranks].slots + r * rows * columns, 1, columns, 64);
  }
  return start(2, cluster, 384, [p] { kernel(p); });
}

static const struct Kind {
  const char *name;
  bool scatters, biased;
  unsigned cluster, wide;
  std::shared_ptr<Launch> (*launch)(unsigned r, unsigned cluster, unsigned wide);
} kinds[] = {
    {"tiles", false, true, 2, 112, gathered<struct tiles, tiles_bf16>},
    {"scatter", true, true, 1, 128, scattered<struct scatter, scatter_bf16>},
#ifdef TOGETHER
    {"tiles2", false, true, 1, 224, gathered<struct tiles2, tiles2_bf16>},
    {"scatter2", true, true, 1, 144, scattered<struct scatter2, scatter2_bf16>},
#endif
};

static void fill(unsigned r, const Kind &k)
{
  numbers(of[r].a, 7 * of[r].round + r, (k.scatters ? ranks : 1) * rows * depth);
  std::fill(of[r].c, of[r].c + ranks * rows * columns, 0x7fff);
}

// The product of a row of a rank's A and a column of a rank's B.
static float product(unsigned round, unsigned by, unsigned row, unsigned weights, unsigned column)
{
  float sum = 0;
  for (unsigned i = 0; i < depth; i++) {
    sum += number(7 * round + by, row * depth + i) * number(100 + weights, column * depth + i);
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
          want += rounded(product(of[r].round, by, r * rows + row, by, column));
        }
      } else {
        want = product(of[r].round, row / rows, row % rows, r, column);
      }
      want = rounded(want + (k.biased ? number(200 + r, column) : 0));
      const float got = same_bits<float>((unsigned)of[r].c[row * columns + column] << 16);
      if (!(got == want)) {
        printf("%s: rank %u, round %u: row %u, column %u is %g, want %g\n", k.name, r, of[r].round, row, column, got,
               want);
        failures++;
        return;
      }
    }
  }
}

static bool play(const Kind &k)
{
  arena_used = 0;
  for (unsigned r = 0; r < ranks; r++) {
    const auto tensor = [](size_t count) { return (unsigned short *)room(2 * count); };
    of[r] = {tensor(ranks * rows * depth), tensor(columns * depth), tensor(ranks * rows * columns), tensor(columns),
             tensor(ranks * rows * depth), tensor(ranks * rows * columns), {}, {}, 0, {}, 0, nullptr};
    numbers(of[r].b, 100 + r, columns * depth);
    numbers(of[r].bias, 200 + r, columns);
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
      for (unsigned i = 0; i < ranks; i++) {
        failures += r.ready[i] != 0 || r.read[i] != 0;
      }
      failures += r.step != 1;
    }
    if (failures > 0) {
      printf("%s: a word is wrong at the end\n", k.name);
      return 1;
    }
  }
}
