// A test of products that start before the launch before them has ended and read their weight then: products of what
// the product before has made, which write what it reads, and functions of them that read and write so too. The
// arguments are a seed for the delays, and kernels; without any, it is of all. Before them may stand "spoiled": then a
// weight is what the launch before makes, and ThreadSanitizer has to see it.
#include <algorithm>
#include <deque>
#include <string>
#include <thread>

#include "launches.h"

#include "kernels.cc"

using namespace right;

#include "list.h"

enum { launches = 3, grid = 2, width = 256, side = 32, rows = 3 };
static_assert((int)launches <= (int)ranks * (int)overlapping && (int)grid <= (int)blocks, "memory of blocks");

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
  struct fewrows params[launches] = {};
  std::deque<Launch> all;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < launches; i++) {
    weights.push_back(weight(narrow, type, 1000 * i));
    want = made(type, want, weights[i], narrow);
    for (size_t at = 0; at < want.size(); at++) {
      const float of = (float)value(type, want[at]), by = (float)value(type, want_beside[at]);
      want_beside[at] = (unsigned short)bits_of(type, rounded(type, of / (1 + __builtin_expf(-of)) * by));
    }
    struct fewrows &p = params[i];
    p.dst = (char *)(i % 2 == 0 ? y : x).data();
    p.a = (const char *)(i % 2 == 0 ? x : y).data();
    p.b = spoiled && i == 1 ? (const char *)y.data() : (const char *)weights[i].data();
    p.made = (char *)beside[i % 2].data();
    p.operands[0] = (const char *)beside[(i + 1) % 2].data();
    p.scale = &one;
    p.scales = 1;
    p.rows = rows;
    p.depth = p.columns = side;
  }
  for (unsigned i = 0; i < launches; i++) {
    Launch *const last = i > 0 ? &all.back() : nullptr;
    while (last != nullptr && !last->lets_next()) {
      usleep(100);
    }
    Launch *const now = &all.emplace_back(last, grid, width, width);
    for (unsigned b = 0; b < grid; b++) {
      for (unsigned t = 0; t < width; t++) {
        const unsigned block = i * grid + b;
        threads.emplace_back([&kernel, &params, now, i, b, t, block, seed] {
          thread_of(*now, {0, block, i}, b, t, true, seed * 1000003ull + block * 1009 + t,
                    [&kernel, &params, i] { kernel.thread(&params[i]); });
        });
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
