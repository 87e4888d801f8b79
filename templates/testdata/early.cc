// A test of launches that may start before the launch before them has ended, with a thread of the host for each of
// theirs, under ThreadSanitizer: products of what the product before has made, which write what it reads, and functions
// of them that read and write so too. The arguments
// are a seed for the delays, and kernels; without any, it is of all. Before them may stand "spoiled": then a weight is
// what the launch before makes, and ThreadSanitizer has to see it.
#include <algorithm>
#include <string>
#include <thread>

#include "order.h"

#include "kernels.cc"

using namespace right;

#include "list.h"

enum { launches = 3, grid = 2, width = 256, warp = 32, side = 32, rows = 3 };
static_assert((int)launches <= (int)ranks && (int)grid <= (int)blocks, "memory of blocks");

// A launch with what its threads tell the next one: which blocks let it start, and how many of them have ended.
struct Launch {
  struct fewrows params;
  std::atomic<bool> lets[grid];
  std::atomic<unsigned> ended;
  char end;  // ThreadSanitizer keeps there what is before the end
};

static Launch all[launches];
static thread_local unsigned mine;

void ptx_griddepcontrol_launch_dependents()
{
  delay();
  all[mine].lets[blockIdx.x].store(true, std::memory_order_relaxed);
}

// The end of a launch is known to those that await it, and to nobody else.
void ptx_griddepcontrol_wait()
{
  if (mine == 0) {
    return;
  }
  Launch &last = all[mine - 1];
  while (last.ended.load(std::memory_order_relaxed) < grid * width) {
    usleep(5000);
  }
  __tsan_acquire(&last.end);
  delay();
}

static void thread_of(const Entry &kernel, unsigned launch, Team *its, Team *warps, unsigned block, unsigned thread,
                      unsigned seed)
{
  gridDim = {grid, 1, 1};
  blockDim = {width, 1, 1};
  blockIdx = {block, 0, 0};
  threadIdx = {thread, 0, 0};
  here = {launch, block};
  mine = launch;
  team = its;
  together = &warps[thread / warp];
  chance = seed * 1000003ull + (launch * grid + block) * 1009 + thread;
  delay();
  kernel.thread(&all[launch].params);
  __tsan_release(&all[launch].end);
  all[launch].ended.fetch_add(1, std::memory_order_relaxed);
  team->leave();
  together->leave();
}

static bool may_start(const Launch &l)
{
  for (const std::atomic<bool> &block : l.lets) {
    if (!block.load(std::memory_order_relaxed)) {
      return l.ended.load(std::memory_order_relaxed) == grid * width;
    }
  }
  return true;
}

typedef std::vector<unsigned short> Bits;

// A weight has codes where the kernel takes these: bytes that are no NaN.
static std::vector<unsigned char> weight(bool narrow, unsigned type, unsigned seed)
{
  std::vector<unsigned char> list(side * side * (narrow ? 1 : 2));
  for (size_t i = 0; i < side * side; i++) {
    const int x = (int)(number(type, seed + (unsigned)i) % 3) - 1;
    if (narrow) {
      list[i] = (unsigned char)(x == 0 ? 0 : x < 0 ? 0xa8 : 0x28);  // a quarter
    } else {
      ((unsigned short *)list.data())[i] = (unsigned short)bits_of(type, x * .25);
    }
  }
  return list;
}

// made is what a product makes: its sums are exact.
static Bits made(unsigned type, const Bits &a, const std::vector<unsigned char> &b, bool narrow)
{
  Bits c(a.size());
  for (size_t i = 0; i < c.size(); i++) {
    double sum = 0;
    for (size_t k = 0, at = i % side * side; k < side; k++, at++) {
      const double code = b[at] == 0 ? 0 : b[at] == 0xa8 ? -.25 : .25;
      const double of = narrow ? code : value(type, ((const unsigned short *)b.data())[at]);
      sum += value(type, a[i / side * side + k]) * of;
    }
    c[i] = (unsigned short)bits_of(type, rounded(type, sum));
  }
  return c;
}

// play runs the launches, each as soon as the one before lets it.
static bool play(const Entry &kernel, bool narrow, bool makes, unsigned type, unsigned seed, bool spoiled)
{
  static const float one = 1;
  Bits x(rows * side), y(side * side);  // as large as a weight
  for (size_t i = 0; i < x.size(); i++) {
    x[i] = (unsigned short)bits_of(type, (int)(number(type, 7 + (unsigned)i) % 3) - 1);
  }
  Bits want = x;
  Bits beside[2] = {Bits(rows * side, (unsigned short)bits_of(type, 0)), x}, want_beside = x;
  std::vector<std::vector<unsigned char>> weights;
  std::vector<Team> teams(launches * grid), warps(launches * grid * width / warp);
  for (Team &w : warps) {
    w.left = warp;
  }
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < launches; i++) {
    weights.push_back(weight(narrow, type, 1000 * i));
    want = made(type, want, weights[i], narrow);
    for (size_t at = 0; at < want.size(); at++) {
      const float of = (float)value(type, want[at]), by = (float)value(type, want_beside[at]);
      want_beside[at] = (unsigned short)bits_of(type, rounded(type, of / (1 + __builtin_expf(-of)) * by));
    }
    Launch &l = all[i];
    l.params = {};
    l.params.dst = (char *)(i % 2 == 0 ? y : x).data();
    l.params.a = (const char *)(i % 2 == 0 ? x : y).data();
    l.params.b = spoiled && i == 1 ? (const char *)y.data() : (const char *)weights[i].data();
    l.params.made = (char *)beside[i % 2].data();
    l.params.operands[0] = (const char *)beside[(i + 1) % 2].data();
    l.params.scale = &one;
    l.params.scales = 1;
    l.params.rows = rows;
    l.params.depth = l.params.columns = side;
    for (std::atomic<bool> &block : l.lets) {
      block.store(false, std::memory_order_relaxed);
    }
    l.ended.store(0, std::memory_order_relaxed);
  }
  for (unsigned i = 0; i < launches; i++) {
    while (i > 0 && !may_start(all[i - 1])) {
      usleep(100);
    }
    for (unsigned b = 0; b < grid; b++) {
      Team *const its = &teams[i * grid + b], *const of_warps = &warps[(i * grid + b) * width / warp];
      its->left = width;
      for (unsigned t = 0; t < width; t++) {
        threads.emplace_back([=, &kernel] { thread_of(kernel, i, its, of_warps, b, t, seed); });
      }
    }
  }
  for (std::thread &t : threads) {
    t.join();
  }
  y.resize(rows * side);
  return want == (launches % 2 == 0 ? x : y) && (!makes || want_beside == beside[(launches + 1) % 2]);
}

int main(int count, char **args)
{
  std::vector<std::string> named(args + 1, args + count);
  const bool spoiled = named[0] == "spoiled";
  if (spoiled) {
    named.erase(named.begin());
  }
  const unsigned seed = (unsigned)atoi(named[0].c_str());
  int failures = 0;
  const char *const kernels[] = {
#define NAMED(name, params) #name,
    KERNELS(NAMED)
  };
  for (const std::string name : kernels) {
    if (named.size() > 1 && std::find(named.begin() + 1, named.end(), name) == named.end()) {
      continue;
    }
    const bool narrow = name.rfind("narrow", 0) == 0;
    const bool makes = name.find("made") != std::string::npos;
    const unsigned type = name.find("bf16") != std::string::npos ? 1 : 2;
    if (!play(find(name.c_str()), narrow, makes, type, seed, spoiled) && !spoiled) {
      printf("%s: a chain of products is wrong\n", name.c_str());
      failures++;
    }
  }
  fflush(stdout);
  _exit(failures != 0);
}
