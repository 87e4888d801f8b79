/* The answers of the fake libcuda. They report to stderr, where a test reads them. */
#include "api.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread CUcontext current;
static __thread int mode;

static void nothing(int signal) { (void)signal; }

/* Takes over a signal in the way that breaks Go programs. */
CUresult cuInit(unsigned int flags) {
  signal(SIGINT, nothing);
  dprintf(2, "init %u connections %s\n", flags, getenv("CUDA_DEVICE_MAX_CONNECTIONS"));
  return getenv("FAKE_INIT") ? atoi(getenv("FAKE_INIT")) : 0;
}

CUresult cuDriverGetVersion(int *version) {
  *version = getenv("FAKE_VERSION") ? atoi(getenv("FAKE_VERSION")) : 12040;
  return 0;
}

CUresult cuGetErrorName(CUresult code, const char **name) {
  *name = code == 218 ? "CUDA_ERROR_INVALID_PTX" : "CUDA_ERROR_FAKE";
  return 0;
}

CUresult cuGetErrorString(CUresult code, const char **text) {
  *text = code == 218 ? "a PTX JIT compilation failed" : "made up";
  return 0;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return ordinal < 3 ? 0 : 101;
}

CUresult cuDeviceGetCount(int *count) { return *count = 3, 0; }

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  snprintf(name, (size_t)size, "fake %d", device);
  return 0;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  memset(uuid, device + 1, sizeof *uuid);
  return 0;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) { return *bytes = 1 << 30, device < 0; }

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  (void)device;
  *value = attribute;
  return 0;
}

/* Devices 0 and 1 reach each other. */
CUresult cuDeviceCanAccessPeer(int *can, CUdevice a, CUdevice b) { return *can = a + b == 1, 0; }

/* They are joined by NVLink. */
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice a, CUdevice b) {
  return *value = attribute == 3 && a + b == 1, 0;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device) {
  *ctx = (CUcontext)(uintptr_t)(0x1000 + device);
  return 0;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  dprintf(2, "release %d\n", device);
  return 0;
}

CUresult cuCtxSetCurrent(CUcontext ctx) { return current = ctx, 0; }
CUresult cuCtxGetCurrent(CUcontext *ctx) { return *ctx = current, 0; }
CUresult cuCtxGetDevice(CUdevice *device) { return *device = (int)((uintptr_t)current & 0xf), 0; }
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) { return *least = 0, *greatest = -5, 0; }

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *m) {
  int old = mode;
  mode = *m;
  *m = old;
  return 0;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes) {
  dprintf(2, "alloc %zu in %p mode %d\n", bytes, (void *)current, mode);
  *p = 0x7000;
  return 0;
}

/* 0x1000: device memory of cuMemAlloc; 0x2000: of a pool; 0x3000: managed; 0x4000: the host's. */
CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *which, void **where, CUdeviceptr p) {
  for (unsigned i = 0; i < count; i++) switch (which[i]) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned *)where[i] = p == 0x4000 ? 1 : p < 0x4000 ? 2 : 0; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)where[i] = p << 32; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(char *)where[i] = p == 0x3000; break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *(char *)where[i] = p == 0x1000; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)where[i] = 1; break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(void **)where[i] = p == 0x2000 ? &mode : NULL; break;
    }
  return 0;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *p, CUipcMemHandle h, unsigned int flags) {
  dprintf(2, "open %d..%d flags %u\n", h.reserved[0], h.reserved[63], flags);
  *p = 0x8000;
  return 0;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes) {
  (void)src;
  dprintf(2, "copy %zu bytes to %#llx mode %d\n", bytes, (unsigned long long)dst, mode);
  return 0;
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes) {
  (void)src;
  memset(dst, getenv("FAKE_BITS") ? atoi(getenv("FAKE_BITS")) : 0, bytes);
  return 0;
}

CUresult cuStreamSynchronize(CUstream s) {
  dprintf(2, "synchronise %p mode %d\n", (void *)s, mode);
  return 0;
}

CUresult cuStreamCreateWithPriority(CUstream *s, unsigned int flags, int priority) {
  dprintf(2, "stream flags %u priority %d\n", flags, priority);
  *s = (CUstream)0x50;
  return 0;
}

CUresult cuStreamBatchMemOp_v2(CUstream s, unsigned int n, CUstreamBatchMemOpParams *items, unsigned int flags) {
  CUstreamBatchMemOpParams *first = items, *last = items + n - 1;
  dprintf(2, "batch %u on %p flags %u: %d %llu %u %u .. %d %llu %u %u\n", n, (void *)s, flags, first->operation,
          first->waitValue.address, first->waitValue.value, first->waitValue.flags, last->operation,
          last->writeValue.address, last->writeValue.value, last->writeValue.flags);
  return 0;
}

CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned int flags) {
  dprintf(2, "stream %p waits for %p flags %u mode %d\n", (void *)s, (void *)e, flags, mode);
  return 0;
}

CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode m) {
  dprintf(2, "capture on %p mode %d\n", (void *)s, m);
  return 0;
}

/* A stream follows as many nodes as the last byte of its handle says, times 16. */
CUresult cuStreamGetCaptureInfo_v2(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *g,
                                   const CUgraphNode **nodes, size_t *count) {
  static CUgraphNode list[16 * 255];
  for (size_t i = 0; i < 16 * 255; i++) list[i] = (CUgraphNode)(0x100 + i);
  *status = 1; /* active */
  *id = 7;
  *g = (CUgraph)0x80;
  *nodes = list;
  *count = 16 * ((uintptr_t)s & 0xff);
  return 0;
}

CUresult cuEventCreate(CUevent *e, unsigned int flags) {
  dprintf(2, "event flags %u\n", flags);
  *e = (CUevent)0x60;
  return 0;
}

CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) {
  (void)a, (void)b;
  *ms = getenv("FAKE_MS") ? (float)atof(getenv("FAKE_MS")) : 0;
  return 0;
}

CUresult cuEventQuery(CUevent e) {
  dprintf(2, "query %p in %p mode %d\n", (void *)e, (void *)current, mode);
  return e == (CUevent)0x61 ? 700 : 600;
}

CUresult cuMemHostRegister_v2(void *p, size_t bytes, unsigned int flags) {
  dprintf(2, "pin %zu flags %u\n", bytes, flags);
  return !p;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *p, void *host, unsigned int flags) {
  *p = (CUdeviceptr)(uintptr_t)host;
  return flags;
}

CUresult cuModuleLoadDataEx(CUmodule *m, const void *ptx, unsigned int n, CUjit_option *options, void **values) {
  if (strncmp(ptx, "good", 4) == 0 || strstr(ptx, "rescale")) {
    static uintptr_t last = 0x70;
    *m = (CUmodule)last++;
    dprintf(2, "load %p\n", (void *)*m);
    return 0;
  }
  *m = NULL;
  if (n == 2 && options[0] == CU_JIT_ERROR_LOG_BUFFER && options[1] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
    snprintf(values[0], (size_t)(uintptr_t)values[1], "line 1: %s is no PTX\n", (const char *)ptx);
  return 218;
}

CUresult cuModuleUnload(CUmodule m) {
  dprintf(2, "unload %p\n", (void *)m);
  return 0;
}

CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
  (void)m;
  *f = (CUfunction)(uintptr_t)name[0];
  return 0;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *l, CUfunction f, void **params, void **extra) {
  dprintf(2, "launch early %p (%u,%u,%u) (%u,%u,%u) shared %u on %p: %u extra %p, %u attributes: %d = %d\n", (void *)f,
          l->gridDimX, l->gridDimY, l->gridDimZ, l->blockDimX, l->blockDimY, l->blockDimZ, l->sharedMemBytes,
          (void *)l->hStream, *(unsigned *)params[0], (void *)extra, l->numAttrs, l->attrs[0].id,
          l->attrs[0].value.programmaticStreamSerializationAllowed);
  return 0;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                        unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params,
                        void **extra) {
  dprintf(2, "launch %p (%u,%u,%u) (%u,%u,%u) shared %u on %p: %u extra %p\n", (void *)f, gx, gy, gz, bx, by, bz,
          shared, (void *)s, *(unsigned *)params[0], (void *)extra);
  const unsigned long long *x = params[0];
  if ((uintptr_t)f == 'b') /* bf16_rescale */
    dprintf(2, "rescale %#llx %#llx %#llx %#llx %#llx %llu\n", x[0], x[1], x[2], x[3], x[4], x[5]);
  return 0;
}

#ifdef ASK
/* Versions must be asked for exactly: some of these have changed since. */
CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *found) {
  *function = NULL;
  *found = 0;
  if (strncmp(name, "cuMem", 5) == 0 || strcmp(name, "cuEventElapsedTime") == 0)
    dprintf(2, "asked for %s as of %d flags %llu\n", name, version, (unsigned long long)flags);
  return 500; /* then the symbol is looked up */
}
#endif

/* Virtual memory. Handle 0x90 was made for files, 0x91 for a fabric. A library without these functions is made with
   -DPLAIN. */
#ifndef PLAIN
CUresult cuMemGetAllocationGranularity(size_t *unit, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags flags) {
  dprintf(2, "granularity type %d at %d %d flags %d\n", prop->type, prop->location.type, prop->location.id, flags);
  return *unit = 1 << 21, 0;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *h, size_t bytes, const CUmemAllocationProp *prop,
                     unsigned long long flags) {
  dprintf(2, "create %zu type %d handles %d at %d %d flags %llu mode %d\n", bytes, prop->type,
          prop->requestedHandleTypes, prop->location.type, prop->location.id, flags, mode);
  return *h = 0x90, 0;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *h, void *p) {
  dprintf(2, "retain %p mode %d\n", p, mode);
  return *h = 0x91, 0;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle h) {
  prop->requestedHandleTypes = h == 0x91 ? 8 : 1;
  return 0;
}

CUresult cuMemExportToShareableHandle(void *to, CUmemGenericAllocationHandle h, CUmemAllocationHandleType type,
                                      unsigned long long flags) {
  dprintf(2, "export %#llx type %d flags %llu\n", h, type, flags);
  if (type == 8) {
    memset(to, 7, 64);
    return 0;
  }
  *(int *)to = dup(2);
  return 0;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *h, void *from, CUmemAllocationHandleType type) {
  if (type == 8)
    dprintf(2, "import fabric %d..%d\n", ((char *)from)[0], ((char *)from)[63]);
  else
    dprintf(2, "import file %d\n", (int)(intptr_t)from);
  return *h = 0x92, 0;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle h) { return dprintf(2, "release handle %#llx\n", h), 0; }

CUresult cuMemAddressReserve(CUdeviceptr *p, size_t bytes, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags) {
  dprintf(2, "reserve %zu alignment %zu at %llu flags %llu\n", bytes, alignment, wish, flags);
  return *p = 0x400000, 0;
}

CUresult cuMemAddressFree(CUdeviceptr p, size_t bytes) { return dprintf(2, "give back %#llx %zu\n", p, bytes), 0; }

CUresult cuMemMap(CUdeviceptr p, size_t bytes, size_t offset, CUmemGenericAllocationHandle h,
                  unsigned long long flags) {
  dprintf(2, "map %#llx %zu offset %zu handle %#llx flags %llu\n", p, bytes, offset, h, flags);
  return 0;
}

CUresult cuMemUnmap(CUdeviceptr p, size_t bytes) { return dprintf(2, "unmap %#llx %zu\n", p, bytes), 0; }

CUresult cuMemSetAccess(CUdeviceptr p, size_t bytes, const CUmemAccessDesc *access, size_t count) {
  dprintf(2, "access %#llx %zu of %d %d flags %d count %zu mode %d\n", p, bytes, access->location.type,
          access->location.id, access->flags, count, mode);
  return access->location.id == 2 ? 101 : 0;
}
#endif
