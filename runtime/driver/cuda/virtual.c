//go:build linux && cgo

#include "calls.h"
#include "enter.h"

#include <string.h>

#define cu ovgen_cuda

/* The driver may lack any of these functions. */
#define OPTIONAL(ctx, name, call)           \
  if (!cu.name) return NOT_SUPPORTED;       \
  RELAXED(ctx, call)

static CUmemLocation of(int ordinal) {
  CUmemLocation where;
  memset(&where, 0, sizeof where);
  where.type = CU_MEM_LOCATION_TYPE_DEVICE;
  where.id = ordinal;
  return where;
}

static CUmemAllocationProp pinned(int ordinal, int types) {
  CUmemAllocationProp prop;
  memset(&prop, 0, sizeof prop);
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.requestedHandleTypes = types;
  prop.location = of(ordinal);
  return prop;
}

CUresult ovgen_physical_granularity(uintptr_t ctx, int ordinal, size_t *unit) {
  CUmemAllocationProp prop = pinned(ordinal, 0);
  OPTIONAL(ctx, MemGetAllocationGranularity,
           cu.MemGetAllocationGranularity(unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

CUresult ovgen_physical_create(uintptr_t ctx, int ordinal, size_t bytes, int types, uint64_t *h) {
  CUmemAllocationProp prop = pinned(ordinal, types);
  OPTIONAL(ctx, MemCreate, cu.MemCreate((CUmemGenericAllocationHandle *)h, bytes, &prop, 0));
}

CUresult ovgen_physical_retain(uintptr_t ctx, uint64_t p, uint64_t *h) {
  OPTIONAL(ctx, MemRetainAllocationHandle,
           cu.MemRetainAllocationHandle((CUmemGenericAllocationHandle *)h, (void *)(uintptr_t)p));
}

CUresult ovgen_physical_types(uintptr_t ctx, uint64_t h, int *types) {
  CUmemAllocationProp prop;
  memset(&prop, 0, sizeof prop);
  if (!cu.MemGetAllocationPropertiesFromHandle) return NOT_SUPPORTED;
  CUresult r = ovgen_enter(ctx);
  if (r == CUDA_SUCCESS) r = cu.MemGetAllocationPropertiesFromHandle(&prop, h);
  *types = prop.requestedHandleTypes;
  return r;
}

CUresult ovgen_physical_export(uintptr_t ctx, uint64_t h, int type, int *file, char fabric[64]) {
  void *to = type == CU_MEM_HANDLE_TYPE_FABRIC ? (void *)fabric : (void *)file;
  OPTIONAL(ctx, MemExportToShareableHandle, cu.MemExportToShareableHandle(to, h, type, 0));
}

/* CUDA takes a descriptor in the place of the pointer, and a fabric's handle by one. */
CUresult ovgen_physical_import(uintptr_t ctx, int type, int file, const char fabric[64], uint64_t *h) {
  char copied[64];
  memcpy(copied, fabric, sizeof copied);
  void *from = type == CU_MEM_HANDLE_TYPE_FABRIC ? (void *)copied : (void *)(uintptr_t)file;
  OPTIONAL(ctx, MemImportFromShareableHandle,
           cu.MemImportFromShareableHandle((CUmemGenericAllocationHandle *)h, from, type));
}

CUresult ovgen_physical_release(uintptr_t ctx, uint64_t h) { OPTIONAL(ctx, MemRelease, cu.MemRelease(h)); }

CUresult ovgen_address_reserve(uintptr_t ctx, size_t bytes, uint64_t *p) {
  OPTIONAL(ctx, MemAddressReserve, cu.MemAddressReserve((CUdeviceptr *)p, bytes, 0, 0, 0));
}

CUresult ovgen_address_free(uintptr_t ctx, uint64_t p, size_t bytes) {
  OPTIONAL(ctx, MemAddressFree, cu.MemAddressFree(p, bytes));
}

CUresult ovgen_map(uintptr_t ctx, uint64_t p, size_t bytes, uint64_t h) {
  OPTIONAL(ctx, MemMap, cu.MemMap(p, bytes, 0, h, 0));
}

CUresult ovgen_unmap(uintptr_t ctx, uint64_t p, size_t bytes) { OPTIONAL(ctx, MemUnmap, cu.MemUnmap(p, bytes)); }

CUresult ovgen_set_access(uintptr_t ctx, uint64_t p, size_t bytes, int ordinal) {
  CUmemAccessDesc access;
  memset(&access, 0, sizeof access);
  access.location = of(ordinal);
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  OPTIONAL(ctx, MemSetAccess, cu.MemSetAccess(p, bytes, &access, 1));
}
