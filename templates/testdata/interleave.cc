// A test of the kernels in the simulator's engine: ranks whose launches take turns, by seed. The arguments are kernels;
// without any, it is of all, in one of four orders of each where OVGEN_SOAK is not set.
#include "drive.h"
#include "ranks.h"

static unsigned below(u64 &state, unsigned n)
{
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % n;
}

// Runs all ranks to their end; false where none can go on.
static bool play(World &w, u64 order)
{
  size_t next[ranks] = {};
  void *launched[ranks] = {};
  for (unsigned left = ranks, idle = 0; left > 0; idle++) {
    const unsigned r = below(order, ranks);
    if (next[r] == w.of[r].steps.size()) {
      continue;
    }
    if (idle > 200) {
      return false;
    }
    const Step &s = w.of[r].steps[next[r]];
    if (s.kernel.empty()) {
      s.host();
    } else {
      const ovgen_kernel *k = find(s.kernel.c_str());
      if (launched[r] == nullptr) {
        launched[r] = begin(k, s.params.data(), s.blocks, s.width);
      }
      u64 word;
      unsigned value;
      const int state = engine_resume(launched[r], &word, &value);
      if (state != 0) {
        idle = state == 1 ? idle : 0;
        continue;
      }
      engine_destroy(launched[r]);
      launched[r] = nullptr;
    }
    idle = 0;
    left -= ++next[r] == w.of[r].steps.size();
  }
  return true;
}

int main(int, char **args)
{
  std::set<std::string> names;
  for (const Kind &k : kinds) {
    names.merge(launched(k));
  }
  for (const ovgen_kernel *k = all(); k->name != nullptr; k++) {
    if (names.count(k->name) == 0) {
      printf("no rank launches %s\n", k->name);
      failures++;
    }
  }
  for (const Kind &k : kinds) {
    if (!named(k, args + 1)) {
      continue;
    }
    const bool few = args[1] == nullptr && getenv("OVGEN_SOAK") == nullptr;
    const unsigned orders = few ? (k.orders + 3) / 4 : k.orders;
    for (u64 order = 1; order <= orders && failures == 0; order++) {
      auto w = world(k);
      if (!play(*w, order)) {
        printf("%s: the ranks wait for each other (order %llu)\n", k.name, order);
        return 1;
      }
      ended(*w);
    }
  }
  return failures != 0;
}
