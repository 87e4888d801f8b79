//go:build linux && cgo

#include "api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct ovgen_cuda ovgen_cuda;

typedef CUresult (*getter)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

/* Asks the driver for the function as a CUDA version had it; a driver that does
   not know the question is searched for the symbol that version exported. */
static void *find(void *library, getter get, const char *name, int version, const char *suffix) {
  void *function = NULL;
  CUdriverProcAddressQueryResult found;
  if (get && get(name, &function, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found) == CUDA_SUCCESS && function)
    return function;
  char symbol[80];
  snprintf(symbol, sizeof symbol, "%s%s", name, suffix);
  return dlsym(library, symbol);
}

/* A function pointer is stored through memcpy: C knows no conversion from void *. */
#define FIND(name, version, suffix, params)                         \
  function = find(library, get, "cu" #name, version, suffix);       \
  memcpy(&table.name, &function, sizeof function);
#define DEMAND(name, version, suffix, params)                       \
  FIND(name, version, suffix, params)                               \
  if (!function) {                                                  \
    snprintf(why, size, "it has no cu" #name suffix);               \
    dlclose(library);                                               \
    return 1;                                                       \
  }

int ovgen_cuda_load(const char *path, char *why, size_t size) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(why, size, "%s", dlerror());
    return 1;
  }
  getter get = NULL;
  void *function = dlsym(library, "cuGetProcAddress_v2");
  memcpy(&get, &function, sizeof function);
  struct ovgen_cuda table;
  OVGEN_CUDA_REQUIRED(DEMAND)
  OVGEN_CUDA_OPTIONAL(FIND)
  ovgen_cuda = table;
  return 0;
}
