// Tables of kernels, each ending with a null name: of the right ones and, in another space, of those in which a mutant
// differs from them.
#pragma once

struct Entry {
  const char *name;
  void (*thread)(const void *params);  // what one thread does
};

namespace right {
extern const Entry table[];
}

// Where a kernel is looked for first.
#ifndef TABLE
#define TABLE right
#endif

namespace TABLE {
extern const Entry table[];
}

[[maybe_unused]] static const Entry &find(const char *name)
{
  const Entry *const tables[] = {TABLE::table, right::table};
  for (const Entry *first : tables) {
    for (const Entry *k = first; k->name != nullptr; k++) {
      if (__builtin_strcmp(k->name, name) == 0) {
        return *k;
      }
    }
  }
  __builtin_printf("no kernel %s\n", name);
  __builtin_exit(1);
}
