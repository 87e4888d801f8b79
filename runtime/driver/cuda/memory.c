//go:build linux && cgo

#include "calls.h"
#include "enter.h"

#include <string.h>

#define cu ovgen_cuda

CUresult ovgen_mem_alloc(uintptr_t ctx, uint64_t *p, size_t bytes) {
  RELAXED(ctx, cu.MemAlloc((CUdeviceptr *)p, bytes));
}

CUresult ovgen_mem_free(uintptr_t ctx, uint64_t p) { RELAXED(ctx, cu.MemFree(p)); }

CUresult ovgen_mem_range(uintptr_t ctx, uint64_t p, uint64_t *base, size_t *bytes) {
  RELAXED(ctx, cu.MemGetAddressRange((CUdeviceptr *)base, bytes, p));
}

/* The answers differ in width (boolean, int, 64 bits), so each has a zeroed word. */
CUresult ovgen_mem_attributes(uintptr_t ctx, uint64_t p, ovgen_attributes *a) {
  CUpointer_attribute which[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE,         CU_POINTER_ATTRIBUTE_BUFFER_ID,
      CU_POINTER_ATTRIBUTE_IS_MANAGED,          CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
      CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
  };
  void *where[] = {&a->type, &a->buffer, &a->managed, &a->legacy_ipc, &a->pool, &a->ordinal};
  *a = (ovgen_attributes){0};
  RELAXED(ctx, cu.PointerGetAttributes(6, which, where, p));
}

static CUresult pin(char *host, size_t bytes, CUdeviceptr *p) {
  CUresult r = cu.MemHostRegister(host, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  if (r != CUDA_SUCCESS) return r;
  r = cu.MemHostGetDevicePointer(p, host, 0);
  if (r != CUDA_SUCCESS) cu.MemHostUnregister(host);
  return r;
}

CUresult ovgen_host_register(uintptr_t ctx, char *host, size_t bytes, uint64_t *p) {
  RELAXED(ctx, pin(host, bytes, (CUdeviceptr *)p));
}

CUresult ovgen_host_unregister(uintptr_t ctx, char *host) { RELAXED(ctx, cu.MemHostUnregister(host)); }

CUresult ovgen_ipc_export(uintptr_t ctx, uint64_t base, char handle[64]) {
  RELAXED(ctx, cu.IpcGetMemHandle((CUipcMemHandle *)handle, base));
}

CUresult ovgen_ipc_open(uintptr_t ctx, const char handle[64], uint64_t *p) {
  CUipcMemHandle h;
  memcpy(&h, handle, sizeof h);
  RELAXED(ctx, cu.IpcOpenMemHandle((CUdeviceptr *)p, h, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

CUresult ovgen_ipc_close(uintptr_t ctx, uint64_t p) { RELAXED(ctx, cu.IpcCloseMemHandle(p)); }

/* cuMemcpyHtoD of pageable memory may return while the last bytes are still on their way (CUDA driver API, "API
 * synchronization behavior"), and streams that do not block on the legacy one would read what was there before. */
static CUresult copy_in(CUdeviceptr dst, const char *src, size_t bytes) {
  CUresult r = cu.MemcpyHtoD(dst, src, bytes);
  return r == CUDA_SUCCESS ? cu.StreamSynchronize(NULL) : r;
}

CUresult ovgen_copy_in(uintptr_t ctx, uint64_t dst, const char *src, size_t bytes) {
  RELAXED(ctx, copy_in(dst, src, bytes));
}

CUresult ovgen_copy_out(uintptr_t ctx, char *dst, uint64_t src, size_t bytes) {
  RELAXED(ctx, cu.MemcpyDtoH(dst, src, bytes));
}

CUresult ovgen_copy(uintptr_t ctx, uint64_t dst, uint64_t src, size_t bytes, uintptr_t s) {
  IN(ctx, cu.MemcpyDtoDAsync(dst, src, bytes, (CUstream)s));
}

CUresult ovgen_copy_2d(uintptr_t ctx, uint64_t dst, size_t dst_pitch, uint64_t src, size_t src_pitch, size_t width,
                       size_t height, uintptr_t s) {
  CUDA_MEMCPY2D c;
  memset(&c, 0, sizeof c);
  c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_UNIFIED; /* either side may be a peer's */
  c.srcDevice = src, c.srcPitch = src_pitch;
  c.dstDevice = dst, c.dstPitch = dst_pitch;
  c.WidthInBytes = width, c.Height = height;
  IN(ctx, cu.Memcpy2DAsync(&c, (CUstream)s));
}

CUresult ovgen_copy_out_async(uintptr_t ctx, char *dst, uint64_t src, size_t bytes, uintptr_t s) {
  RELAXED(ctx, cu.MemcpyDtoHAsync(dst, src, bytes, (CUstream)s));
}

CUresult ovgen_memset(uintptr_t ctx, uint64_t dst, uint32_t value, size_t words, uintptr_t s) {
  RELAXED(ctx, cu.MemsetD32Async(dst, value, words, (CUstream)s));
}

CUresult ovgen_alloc_pooled(uintptr_t ctx, uint64_t *p, size_t bytes, uintptr_t s) {
  if (!cu.MemAllocAsync) return NOT_SUPPORTED;
  RELAXED(ctx, cu.MemAllocAsync((CUdeviceptr *)p, bytes, (CUstream)s));
}
