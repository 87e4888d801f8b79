//go:build linux && cgo

#include "blas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define lt ovgen_blas

struct ovgen_blas ovgen_blas;

#define FIND(name, params)                                        \
  function = dlsym(library, "cublasLt" #name);                    \
  memcpy(&table.name, &function, sizeof function);                \
  if (!function) {                                                \
    snprintf(why, size, "%s has no cublasLt" #name, path);        \
    dlclose(library);                                             \
    return 1;                                                     \
  }

int ovgen_blas_load(const char *path, char *why, size_t size) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(why, size, "%s", dlerror());
    return 1;
  }
  void *function;
  struct ovgen_blas table;
  OVGEN_BLAS_FUNCTIONS(FIND)
  FIND(GetStatusName, )
  FIND(GetStatusString, )
  FIND(GetVersion, )
  ovgen_blas = table;
  return 0;
}

cublasStatus_t ovgen_blas_create(uintptr_t *handle) { return lt.Create((cublasLtHandle_t *)handle); }

cublasStatus_t ovgen_blas_destroy(uintptr_t handle) { return lt.Destroy((cublasLtHandle_t)handle); }

size_t ovgen_blas_version(void) { return lt.GetVersion ? lt.GetVersion() : 0; }

void ovgen_blas_error(cublasStatus_t code, const char **name, const char **text) {
  *name = lt.GetStatusName(code);
  *text = lt.GetStatusString(code);
}
