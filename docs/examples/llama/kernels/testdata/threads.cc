// The decoder's kernels with a thread of the host for each of theirs, under ThreadSanitizer: barriers and the counter
// of ended parts order them, and nothing else does. A thread more is the launch before, which runs beside a kernel
// until that waits for its end, and writes all that launches of a step write but the cache of the kernel's layer. The
// arguments are a seed for delays, the name of a kernel, and words: codes, where the kernel makes these too; rows and
// cache, where the launch before writes also these.
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

enum { most_blocks = 4 };  // two for each row of decode, so one of them has several stretches

// The barrier of a block, a warp, or all threads.
typedef pthread_barrier_t Team;

static thread_local Team *own_block, *own_warp;  // of the thread, and of its warp
static thread_local unsigned long long chance = 1;

// missing is the number of the order that the kernels do not keep; 0: none.
static const int missing = getenv("MISSING") == nullptr ? 0 : atoi(getenv("MISSING"));

static void delay()
{
  chance = chance * 6364136223846793005ull + 1442695040888963407ull;
  if (chance >> 62 == 0) {
    usleep((unsigned)(chance >> 40) % 200);
  }
}

static void sync_block()
{
  delay();
  pthread_barrier_wait(own_block);
}

static void sync_warp()
{
  delay();
  pthread_barrier_wait(own_warp);
}

static unsigned add(unsigned *word, unsigned last)
{
  delay();
  unsigned x = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &x, x >= last ? 0 : x + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return x;
}

// The end of the launch before, which start_early and decodefew wait for.
static std::atomic<bool> before_has_ended;

static void await_before()
{
  delay();
  while (!before_has_ended.load(std::memory_order_acquire)) {
    usleep(50);
  }
}

static unsigned nearest(float x)
{
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  return x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

namespace {

// Each thread has an engine of its own, and each block its memory.
thread_local
#include "../../generated/device/host.h"
#undef __syncwarp
#define __syncwarp sync_warp
#undef SHARED
#define SHARED(type, name, count) alignas(16) static char name##_of[most_blocks][sizeof(type) * (count)]; \
  type *const name = (type *)name##_of[blockIdx.x]
#include "../llama.cu"
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim
#undef increment

struct Launch { const char *name; unsigned threads; void (*thread)(const void *params); };
#define ROW(name, threads, ...) {#name, threads, thread<struct params, name##_bf16>},
const Launch launches[] = {KERNELS(ROW)};

}  // namespace

template <typename T>
static T *memory(size_t n)
{
  return (T *)calloc(n, sizeof(T));
}

// What the launch before writes.
struct Range { volatile char *at; size_t bytes; };
static std::vector<Range> written;

// Memory that launches of a step write.
template <typename T>
static T *made(size_t n)
{
  T *const at = memory<T>(n);
  written.push_back({(volatile char *)at, n * sizeof(T)});
  return at;
}

static void launch_before()
{
  for (const Range &r : written) {
    for (size_t i = 0; i < r.bytes; i++) {
      r.at[i] = r.at[i];
    }
  }
  before_has_ended.store(true, std::memory_order_release);
}

// What all kernels work on: rows of sequences, in one stretch and in three, or of one that follow each other.
static struct params work(const std::string &name, bool codes)
{
  const bool wide = name.find("wide") != std::string::npos, prefill = name.find("prefill") == 0;
  const bool decode = name.find("decode") == 0;
  enum { room = 300, queries = 3, ranks = 2 };
  const unsigned keys = decode && !codes ? 1 : 2;
  struct params p = {};
  p.count = prefill ? 70 : name == "best" || decode ? 2 : 3;
  row *const rows = memory<row>(p.count);
  for (int i = 0; i < (int)p.count; i++) {
    rows[i] = prefill ? row{i, 0, i, 1} : row{i == 0 ? -1 : i, i, i == 0 ? 5 : 270 + i, 2};
  }
  p.rows = rows;
  p.hidden = 24;
  p.columns = p.tokens = p.width = 64;
  p.ranks = ranks;
  p.most = queries;
  p.group = keys == 1 ? queries : 2;  // each head of keys has queries of this rank
  p.queries = queries;
  p.keys = keys;
  p.size = wide ? 136 : 16;
  p.places = 3;
  p.room = room;
  p.wide_query = queries * p.size;
  p.wide_key = keys * p.size;
  p.embedding = memory<char>(2 * 70 * p.hidden);
  p.norm = memory<char>(2 * p.hidden);
  p.x = made<char>(2 * p.count * p.hidden);
  p.normed = made<char>(2 * p.count * p.hidden);
  p.logits = made<float>(p.count * p.columns);
  p.best = made<pair>(p.count);
  p.all = memory<pair>(2 * ranks * p.most);
  p.angles = memory<float>(room * p.size);
  p.query = made<char>(2 * p.count * p.wide_query);
  p.key = made<char>(2 * p.count * p.wide_key);
  p.value = made<char>(2 * p.count * p.wide_key);
  p.to = made<char>(2 * p.count * p.wide_query);
  p.cache_keys = memory<char>(2 * p.places * room * p.wide_key);
  p.cache_values = memory<char>(2 * p.places * room * p.wide_key);
  p.parts = made<float>(p.count * queries * most_stretches * (4 + p.size));
  p.ended = made<unsigned>(p.count * (queries + 1));
  p.codes = codes ? made<char>(p.count * 1024) : nullptr;
  p.scales = made<float>(p.count);
  p.found = made<pair>(p.count * 32);
  p.gates = made<char>(2 * p.count * 2 * p.width);
  p.gated = made<char>(2 * p.count * p.width);
  p.scale = p.epsilon = p.grows = 1;
  return p;
}

int main(int count, char **args)
{
  const unsigned seed = (unsigned)atoi(args[1]);
  const std::set<std::string> words(args + 3, args + count);
  for (const Launch &launch : launches) {
    if (strcmp(launch.name, args[2]) != 0) {
      continue;
    }
    const bool any = launch.threads > 128 && strcmp(launch.name, "best") != 0;
    const struct params p = work(launch.name, words.count("codes") > 0 || strstr(launch.name, "codes") != nullptr);
    const unsigned threads = any ? 64 : launch.threads;  // where any number does
    if (words.count("rows") > 0) {
      written.push_back({(volatile char *)p.rows, p.count * sizeof(row)});
    }
    if (words.count("cache") > 0) {
      written.push_back({p.cache_keys, 2 * p.places * p.room * p.wide_key});
      written.push_back({p.cache_values, 2 * p.places * p.room * p.wide_key});
    }
    static Team blocks[most_blocks], warps[most_blocks * 16];
    Team ended;
    pthread_barrier_init(&ended, nullptr, most_blocks * threads + 1);
    std::vector<std::thread> all;
    for (Team &block : blocks) {
      pthread_barrier_init(&block, nullptr, threads);
    }
    for (Team &warp : warps) {
      pthread_barrier_init(&warp, nullptr, 32);
    }
    all.emplace_back([&] {
      launch_before();
      pthread_barrier_wait(&ended);
    });
    for (unsigned i = 0; i < most_blocks * threads; i++) {
      all.emplace_back([&, i] {
        Engine e = {};
        e.threadIdx = {i % threads, 0, 0};
        e.blockIdx = {i / threads, 0, 0};
        e.blockDim = {threads, 1, 1};
        e.gridDim = {most_blocks, 1, 1};
        e.sync_threads = sync_block;
        e.increment = add;
        e.float_to_bfloat = nearest;
        engine = &e;
        own_block = &blocks[i / threads];
        own_warp = &warps[i / 32];
        chance = seed * 1000003ull + i;
        launch.thread(&p);
        pthread_barrier_wait(&ended);  // ThreadSanitizer gives the number of a thread that is gone to another
      });
    }
    for (std::thread &t : all) {
      t.join();
    }
    return 0;
  }
  printf("there is no kernel %s\n", args[2]);
  return 1;
}
