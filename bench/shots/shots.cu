// Times all-reduces by packets of more ranks than there are GPUs: ranks share GPUs, as launches on streams of one
// process. So it shows what waiting for several peers takes, and not what their links do. The arguments are rounds and
// files of PTX, of generated packages allreducepackets (names that begin with one) and allreducetwoshotpackets (two);
// they are timed in turn, in graphs of 20 sums, by the slowest rank, and compared with the first of them by ==.
//
//   nvcc -O2 -arch=sm_90 -o shots shots.cu -lcuda && ./shots 15 one_before.ptx one.ptx two_before.ptx two.ptx
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

typedef unsigned long long u64;

#define CHECK(call) check((int)(call), __LINE__)
static void check(int result, int line)
{
  if (result != 0) {
    printf("line %d: error %d\n", line, result);
    exit(1);
  }
}

enum { most_ranks = 4, most_gpus = 2, sums = 20, threads = 512, most_blocks = 128, turns = 4096 };
static const u64 most_bytes = 8 << 20;

// The parameters of both kernels; spread is the second one's.
struct Params {
  unsigned *step;
  u64 value, blocks;
  char *dst;
  u64 count, n;
  const char *terms[8];
  char *to[8], *from;
  u64 part, half;
  unsigned *turn;
  u64 rank, beside, spread;
};

struct Variant {
  std::string name;
  bool two;
  CUfunction kernel[most_gpus];
  cudaGraphExec_t graph[most_ranks];
  std::vector<float> us;

  u64 part_of(u64 bytes, int n) const { return two ? bytes / n : bytes; }

  // The bytes of a landing: two halves of a part for each rank, packets and what lies beside them, and words of blocks.
  u64 landing(u64 bytes, int n) const { return 2 * n * 3 * part_of(bytes, n) + turns; }
};

struct Rank {
  int gpu;
  char *a, *c, *landing;
  unsigned *step;
  cudaStream_t stream;
};

static void record(Variant &v, const std::vector<Rank> &ranks, int r, u64 bytes)
{
  const int n = (int)ranks.size();
  const u64 part = v.part_of(bytes, n);
  Params p = {};
  p.step = ranks[r].step;
  p.value = 1;
  p.blocks = std::min<u64>(most_blocks, (part / 16 + threads - 1) / threads);
  p.dst = ranks[r].c + (v.two ? part * r : 0);
  p.count = part / 2;
  p.n = n;
  p.rank = r;
  p.part = 3 * part;
  p.half = n * p.part;
  p.beside = part;
  p.from = ranks[r].landing;
  p.turn = (unsigned *)(p.from + 2 * p.half);
  p.spread = v.landing(bytes, n);
  for (int q = 0; q < n; q++) {
    p.terms[q] = ranks[r].a + (v.two ? part * q : 0);
    p.to[q] = ranks[q].landing + r * p.part;
  }
  void *args[] = {&p};
  cudaGraph_t graph;
  CHECK(cudaSetDevice(ranks[r].gpu));
  CHECK(cudaStreamBeginCapture(ranks[r].stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < sums; i++) {
    CHECK(cuLaunchKernel(v.kernel[ranks[r].gpu], p.blocks, 1, 1, threads, 1, 1, 0, ranks[r].stream, args, 0));
  }
  CHECK(cudaStreamEndCapture(ranks[r].stream, &graph));
  CHECK(cudaGraphInstantiate(&v.graph[r], graph, 0));
}

// once runs a graph of each rank to warm up and two behind it, and returns the slowest rank's microseconds a sum.
static float once(const Variant &v, const std::vector<Rank> &ranks, u64 bytes)
{
  for (const Rank &r : ranks) {
    CHECK(cudaSetDevice(r.gpu));
    CHECK(cudaMemset(r.landing, 0, 2 * v.landing(bytes, (int)ranks.size())));
    CHECK(cudaDeviceSynchronize());
  }
  cudaEvent_t begin[most_ranks], end[most_ranks];
  for (size_t r = 0; r < ranks.size(); r++) {
    CHECK(cudaSetDevice(ranks[r].gpu));
    CHECK(cudaEventCreate(&begin[r]));
    CHECK(cudaEventCreate(&end[r]));
    CHECK(cudaGraphLaunch(v.graph[r], ranks[r].stream));
  }
  for (size_t r = 0; r < ranks.size(); r++) {
    CHECK(cudaSetDevice(ranks[r].gpu));
    CHECK(cudaEventRecord(begin[r], ranks[r].stream));
    CHECK(cudaGraphLaunch(v.graph[r], ranks[r].stream));
    CHECK(cudaGraphLaunch(v.graph[r], ranks[r].stream));
    CHECK(cudaEventRecord(end[r], ranks[r].stream));
  }
  float slowest = 0;
  for (size_t r = 0; r < ranks.size(); r++) {
    float ms;
    CHECK(cudaStreamSynchronize(ranks[r].stream));
    CHECK(cudaEventElapsedTime(&ms, begin[r], end[r]));
    CHECK(cudaEventDestroy(begin[r]));
    CHECK(cudaEventDestroy(end[r]));
    slowest = std::max(slowest, ms * 1000 / (2 * sums));
  }
  return slowest;
}

static void measure(std::vector<Variant> &variants, const std::vector<Rank> &ranks, u64 bytes, int rounds)
{
  std::mt19937 random(5);
  std::vector<Variant *> order;
  std::vector<char> want, got(bytes);
  for (Variant &v : variants) {
    for (size_t r = 0; r < ranks.size(); r++) {
      CHECK(cudaMemset(ranks[r].c, 0xff, bytes));
      record(v, ranks, (int)r, bytes);
    }
    once(v, ranks, bytes);
    for (const Rank &r : ranks) {
      CHECK(cudaMemcpy(got.data(), r.c, bytes, cudaMemcpyDeviceToHost));
      want = want.empty() ? got : want;
      if (want != got) {
        printf("%s: a sum is wrong\n", v.name.c_str());
        exit(1);
      }
    }
    v.us.clear();
    order.push_back(&v);
  }
  for (int i = 0; i < rounds; i++) {
    std::shuffle(order.begin(), order.end(), random);
    for (Variant *v : order) {
      v->us.push_back(once(*v, ranks, bytes));
    }
  }
  printf("%zu ranks, %5llu KiB:", ranks.size(), bytes >> 10);
  for (Variant &v : variants) {
    std::sort(v.us.begin(), v.us.end());
    printf("  %s %.2f", v.name.c_str(), v.us[v.us.size() / 2]);
    for (size_t r = 0; r < ranks.size(); r++) {
      CHECK(cudaGraphExecDestroy(v.graph[r]));
    }
  }
  printf("\n");
}

int main(int count, char **args)
{
  if (count < 3) {
    printf("usage: shots ROUNDS FILE.ptx...\n");
    return 2;
  }
  int gpus;
  CHECK(cudaGetDeviceCount(&gpus));
  gpus = std::min<int>(gpus, most_gpus);
  std::vector<Variant> variants(count - 2);
  for (int g = 0; g < gpus; g++) {
    CHECK(cudaSetDevice(g));
    CHECK(cudaFree(nullptr));
    if (gpus > 1) {
      CHECK(cudaDeviceEnablePeerAccess(1 - g, 0));
    }
    for (int i = 2; i < count; i++) {
      Variant &v = variants[i - 2];
      v.name = args[i];
      v.name = v.name.substr(v.name.find_last_of('/') + 1);
      v.two = v.name[0] == 't';
      std::ifstream file(args[i]);
      const std::string text(std::istreambuf_iterator<char>(file), {});
      CUmodule module;
      CHECK(cuModuleLoadData(&module, text.c_str()));
      CHECK(cuModuleGetFunction(&v.kernel[g], module, v.two ? "packetspread_bf16" : "packets_bf16"));
    }
  }
  for (int n = 2; n <= most_ranks; n++) {
    std::vector<Rank> ranks(n);
    for (int r = 0; r < n; r++) {
      Rank &rank = ranks[r];
      rank.gpu = r * gpus / n;
      CHECK(cudaSetDevice(rank.gpu));
      CHECK(cudaMalloc(&rank.a, most_bytes));
      CHECK(cudaMalloc(&rank.c, most_bytes));
      CHECK(cudaMalloc(&rank.landing, 2 * (2 * n * 3 * most_bytes + turns)));
      CHECK(cudaMalloc(&rank.step, 256));
      CHECK(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking));
      std::vector<unsigned short> a(most_bytes / 2);
      std::mt19937 random(r + 1);
      for (unsigned short &x : a) {
        const unsigned short numbers[] = {0, 0x3f80, 0xbf80};  // 0, 1 and -1 of bf16
        x = numbers[random() % 3];
      }
      CHECK(cudaMemcpy(rank.a, a.data(), most_bytes, cudaMemcpyHostToDevice));
    }
    // All blocks of the ranks that share a GPU run at the same time: a multiprocessor has room for two.
    const int sharing = (n + gpus - 1) / gpus, room = 2 * 132;
    for (u64 bytes = 3 << 14; bytes <= most_bytes; bytes = (bytes & (bytes - 1)) == 0 ? bytes / 2 * 3 : bytes / 3 * 4) {
      const u64 blocks = std::min<u64>(most_blocks, bytes / 16 / threads);
      if (bytes % (16 * n) == 0 && (int)blocks * sharing <= room && (n == 2 || bytes / 16 / threads <= most_blocks)) {
        measure(variants, ranks, bytes, atoi(args[1]));
      }
    }
  }
}
