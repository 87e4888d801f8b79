// A test of the shim: it drives kernels through their table as the simulator does.
#include "drive.h"

// A wait suspends until all of its words are 1, says which is the first that is not, and
// writes the step word after all resets.
static void waits()
{
  unsigned words[3] = {0, 1, 0}, step = 0;
  struct wait p = {};
  for (int i = 0; i < 3; i++) {
    p.words[i] = &words[i];
  }
  p.step = &step;
  p.count = 3;
  p.value = 77;
  const ovgen_kernel *k = find("wait");
  void *l = begin(k, &p, 1, 32);
  memset(&p, 0xff, sizeof p);  // start has copied it
  u64 addr = 0;
  unsigned value = 0;
  EXPECT(advance(l, &addr, &value) == 1);
  EXPECT(addr == (u64)&words[0] && value == 1);
  EXPECT(words[1] == 0 && step == 0);
  words[0] = 1;
  EXPECT(advance(l, &addr, &value) == 1);
  EXPECT(addr == (u64)&words[2] && words[0] == 0 && step == 0);
  words[2] = 1;
  EXPECT(advance(l, &addr, &value) == 0);
  EXPECT(words[2] == 0 && step == 77);
  engine_destroy(l);

  void *abandoned = begin(k, &p, 1, 32);
  engine_destroy(abandoned);
}

static void posts()
{
  unsigned words[2] = {0, 5}, other = 9;
  struct post p = {};
  p.words[0] = &words[0];
  p.words[1] = &words[1];
  p.count = 2;
  EXPECT(run("post", &p, 1, 2) == 0);
  EXPECT(words[0] == 1 && words[1] == 1 && other == 9);
}

// Every alignment of both sides to which elements may lie, with lengths around the unit of 16 bytes and more than a
// round of all threads, must move exactly the bytes asked for.
static void copies()
{
  const size_t lengths[] = {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 100, 4096, 5001};
  std::vector<unsigned char> from(8192), to(8192);
  for (size_t i = 0; i < from.size(); i++) {
    from[i] = (unsigned char)(i * 7 + 3);
  }
  for (size_t src = 0; src < 17; src++) {
    for (size_t dst = 0; dst < 17; dst++) {
      for (size_t n : lengths) {
        if ((src + dst) % 2 != 0) {
          continue;  // elements have two bytes or more
        }
        std::fill(to.begin(), to.end(), 0xee);
        struct copy p = {(char *)&to[64 + dst], (const char *)&from[src], n};
        EXPECT(run("copy", &p, 2, 16) == 0);
        EXPECT(memcmp(&to[64 + dst], &from[src], n) == 0);
        EXPECT(to[63 + dst] == 0xee && to[64 + dst + n] == 0xee);
      }
    }
  }
}

// A thread that has returned is not waited for, and a barrier that opens lets a block's
// threads through in every round.
static void rounds(struct copy p)
{
  if (threadIdx.x == 1) {
    return;
  }
  unsigned *counts = (unsigned *)p.dst;
  for (unsigned round = 0; round < 3; round++) {
    counts[blockIdx.x]++;
    __syncthreads();
    if (counts[blockIdx.x] != 2 * (round + 1)) {
      counts[2]++;
    }
    __syncthreads();
  }
}

static void barriers()
{
  unsigned counts[3] = {0, 0, 0}, value;
  struct copy p = {(char *)counts, 0, 0};
  const unsigned grid[3] = {2, 1, 1}, block[3] = {3, 1, 1};
  u64 addr;
  const ovgen_kernel k = {"rounds", sizeof p, thread<struct copy, rounds>};
  void *l = engine_start(&k, &p, grid, block, seed++);
  EXPECT(engine_resume(l, &addr, &value) == 0);
  EXPECT(counts[0] == 6 && counts[1] == 6 && counts[2] == 0);
  engine_destroy(l);
}

// Launches with parameters of zeros do nothing.
static void zeros()
{
  std::vector<char> none(4096);
  for (const ovgen_kernel *k = all(); k->name != nullptr; k++) {
    EXPECT(run(k->name, none.data(), 1, 4) == 0);
  }
}

int main()
{
  waits();
  posts();
  copies();
  barriers();
  zeros();
  return failures != 0;
}
