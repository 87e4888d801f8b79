//go:build linux && cgo

#include "calls.h"
#include "enter.h"

#include <string.h>

#define cu ovgen_cuda

CUresult ovgen_init(void) { return cu.Init(0); }

CUresult ovgen_version(int *version) { return cu.DriverGetVersion(version); }

void ovgen_error(CUresult code, const char **name, const char **text) {
  if (cu.GetErrorName(code, name) != CUDA_SUCCESS || !*name) *name = "unknown error";
  if (cu.GetErrorString(code, text) != CUDA_SUCCESS || !*text) *text = "no description";
}

/* Devices: a CUdevice is asked for each time; these are calls of start-up. */

#define OF(ordinal, call)                         \
  CUdevice device;                                \
  CUresult r = cu.DeviceGet(&device, ordinal);    \
  return r != CUDA_SUCCESS ? r : (call)

CUresult ovgen_device_count(int *count) { return cu.DeviceGetCount(count); }

CUresult ovgen_device_name(int ordinal, char *name, int size) { OF(ordinal, cu.DeviceGetName(name, size, device)); }

CUresult ovgen_device_uuid(int ordinal, char uuid[16]) { OF(ordinal, cu.DeviceGetUuid((CUuuid *)uuid, device)); }

CUresult ovgen_device_memory(int ordinal, size_t *bytes) { OF(ordinal, cu.DeviceTotalMem(bytes, device)); }

CUresult ovgen_device_attribute(int ordinal, int attribute, int *value) {
  OF(ordinal, cu.DeviceGetAttribute(value, (CUdevice_attribute)attribute, device));
}

CUresult ovgen_device_can_access(int ordinal, int peer, int *can) {
  CUdevice other;
  CUresult found = cu.DeviceGet(&other, peer);
  if (found != CUDA_SUCCESS) return found;
  OF(ordinal, cu.DeviceCanAccessPeer(can, device, other));
}

CUresult ovgen_device_p2p(int ordinal, int peer, int attribute, int *value) {
  CUdevice other;
  CUresult found = cu.DeviceGet(&other, peer);
  if (found != CUDA_SUCCESS) return found;
  OF(ordinal, cu.DeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, device, other));
}

CUresult ovgen_ctx_retain(int ordinal, uintptr_t *ctx) {
  OF(ordinal, cu.DevicePrimaryCtxRetain((CUcontext *)ctx, device));
}

CUresult ovgen_ctx_release(int ordinal) { OF(ordinal, cu.DevicePrimaryCtxRelease(device)); }

CUresult ovgen_ctx_device(uintptr_t ctx, int *device) {
  CUresult r = cu.CtxSetCurrent((CUcontext)ctx);
  return r != CUDA_SUCCESS ? r : cu.CtxGetDevice(device);
}

CUresult ovgen_ctx_priorities(uintptr_t ctx, int *least, int *greatest) {
  IN(ctx, cu.CtxGetStreamPriorityRange(least, greatest));
}

CUresult ovgen_ctx_synchronize(uintptr_t ctx) { RELAXED(ctx, cu.CtxSynchronize()); }

CUresult ovgen_capture_mode(uintptr_t ctx, int *mode) {
  IN(ctx, cu.ThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}

/* Streams and events. */

CUresult ovgen_stream_create(uintptr_t ctx, int priority, uintptr_t *s) {
  RELAXED(ctx, cu.StreamCreateWithPriority((CUstream *)s, CU_STREAM_NON_BLOCKING, priority));
}

CUresult ovgen_stream_destroy(uintptr_t ctx, uintptr_t s) { RELAXED(ctx, cu.StreamDestroy((CUstream)s)); }

CUresult ovgen_stream_synchronize(uintptr_t ctx, uintptr_t s) { RELAXED(ctx, cu.StreamSynchronize((CUstream)s)); }

CUresult ovgen_stream_query(uintptr_t ctx, uintptr_t s) { RELAXED(ctx, cu.StreamQuery((CUstream)s)); }

CUresult ovgen_stream_capturing(uintptr_t ctx, uintptr_t s, int *capturing) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUresult r = ovgen_enter(ctx);
  if (r == CUDA_SUCCESS) r = cu.StreamIsCapturing((CUstream)s, &status);
  *capturing = status != CU_STREAM_CAPTURE_STATUS_NONE;
  return r;
}

CUresult ovgen_stream_wait(uintptr_t ctx, uintptr_t s, uintptr_t e, int external) {
  IN(ctx, cu.StreamWaitEvent((CUstream)s, (CUevent)e, external ? CU_EVENT_WAIT_EXTERNAL : 0));
}

/* Writes one item in CUDA's form. */
static void convert(CUstreamBatchMemOpParams *to, const ovgen_memop *from) {
  memset(to, 0, sizeof *to);
  if (from->kind == OVGEN_WRITE) {
    to->writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    to->writeValue.address = from->address;
    to->writeValue.value = from->value;
    to->writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  } else {
    to->waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    to->waitValue.address = from->address;
    to->waitValue.value = from->value;
    to->waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  }
}

CUresult ovgen_stream_batch(uintptr_t ctx, uintptr_t s, const ovgen_memop *items, size_t count) {
  CUstreamBatchMemOpParams batch[OVGEN_BATCH];
  CUresult r = ovgen_enter(ctx);
  for (size_t i = 0; i < count; i++)
    if (items[i].kind != OVGEN_WAIT && items[i].kind != OVGEN_WRITE) return CUDA_ERROR_INVALID_VALUE;
  while (count > 0 && r == CUDA_SUCCESS) {
    unsigned n = count < OVGEN_BATCH ? (unsigned)count : OVGEN_BATCH;
    for (unsigned i = 0; i < n; i++) convert(&batch[i], &items[i]);
    r = cu.StreamBatchMemOp((CUstream)s, n, batch, 0);
    items += n;
    count -= n;
  }
  return r;
}

CUresult ovgen_event_create(uintptr_t ctx, int timing, uintptr_t *e) {
  RELAXED(ctx, cu.EventCreate((CUevent *)e, timing ? 0 : CU_EVENT_DISABLE_TIMING));
}

CUresult ovgen_event_destroy(uintptr_t ctx, uintptr_t e) { RELAXED(ctx, cu.EventDestroy((CUevent)e)); }

CUresult ovgen_event_record(uintptr_t ctx, uintptr_t e, uintptr_t s, int external) {
  IN(ctx, cu.EventRecordWithFlags((CUevent)e, (CUstream)s, external ? CU_EVENT_RECORD_EXTERNAL : 0));
}

CUresult ovgen_event_query(uintptr_t ctx, uintptr_t e) { RELAXED(ctx, cu.EventQuery((CUevent)e)); }

CUresult ovgen_event_synchronize(uintptr_t ctx, uintptr_t e) { RELAXED(ctx, cu.EventSynchronize((CUevent)e)); }

CUresult ovgen_event_elapsed(uintptr_t ctx, uintptr_t from, uintptr_t to, float *ms) {
  RELAXED(ctx, cu.EventElapsedTime(ms, (CUevent)from, (CUevent)to));
}

/* Kernels and graphs. */

CUresult ovgen_module_load(uintptr_t ctx, const char *ptx, uintptr_t *m, char *log, size_t size) {
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(uintptr_t)size};
  RELAXED(ctx, cu.ModuleLoadDataEx((CUmodule *)m, ptx, 2, options, values));
}

CUresult ovgen_module_function(uintptr_t ctx, uintptr_t m, const char *name, uintptr_t *f) {
  RELAXED(ctx, cu.ModuleGetFunction((CUfunction *)f, (CUmodule)m, name));
}

CUresult ovgen_module_unload(uintptr_t ctx, uintptr_t m) { RELAXED(ctx, cu.ModuleUnload((CUmodule)m)); }

// set_shared lets blocks have so many bytes of shared memory. By those of a launch that starts early a multiprocessor
// gets all the shared memory that it can have, so that the next launch's find room beside them.
static CUresult set_shared(CUfunction f, int bytes, bool early) {
  if (early) {
    const CUresult r = cu.FuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100);
    if (r != CUDA_SUCCESS) return r;
  }
  return cu.FuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}

CUresult ovgen_function_shared(uintptr_t ctx, uintptr_t f, int bytes, bool early) {
  if (bytes == 0) return CUDA_SUCCESS;  // what the kernel declares itself is there
  if (!cu.FuncSetAttribute) return NOT_SUPPORTED;
  RELAXED(ctx, set_shared((CUfunction)f, bytes, early));
}

CUresult ovgen_occupancy(uintptr_t ctx, uintptr_t f, int threads, size_t shared, int *blocks) {
  IN(ctx, cu.OccupancyMaxActiveBlocksPerMultiprocessor(blocks, (CUfunction)f, threads, shared));
}

/* Elements have 2 bytes. The driver writes to a multiple of 64 bytes only. */
CUresult ovgen_tensor_map(uint64_t map[16], int type, uint64_t at, uint64_t shards, uint64_t rows, uint64_t columns,
                          uint32_t box_rows) {
  if (!cu.TensorMapEncodeTiled) return NOT_SUPPORTED;
  _Alignas(64) uint64_t made[16];
  const cuuint64_t dims[3] = {columns, rows, shards}, strides[2] = {2 * columns, 2 * columns * rows};
  const cuuint32_t box[3] = {64, box_rows, 1}, step[3] = {1, 1, 1};
  CUresult r = cu.TensorMapEncodeTiled(made, (CUtensorMapDataType)type, 3, (void *)(uintptr_t)at, dims, strides, box,
                                       step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                       CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r == CUDA_SUCCESS) memcpy(map, made, sizeof made);
  return r;
}

CUresult ovgen_launch(uintptr_t ctx, uintptr_t f, const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
                      bool early, uintptr_t s, char *params) {
  void *list[] = {params};
  CUlaunchAttribute how = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
  how.value.programmaticStreamSerializationAllowed = 1;
  const CUlaunchConfig launch = {grid[0],  grid[1], grid[2],     block[0], block[1],
                                 block[2], shared,  (CUstream)s, &how,     1};
  if (early && cu.LaunchKernelEx) {
    IN(ctx, cu.LaunchKernelEx(&launch, (CUfunction)f, list, NULL));
  }
  IN(ctx, cu.LaunchKernel((CUfunction)f, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared,
                          (CUstream)s, list, NULL));
}

CUresult ovgen_capture_begin(uintptr_t ctx, uintptr_t s, int mode) {
  IN(ctx, cu.StreamBeginCapture((CUstream)s, (CUstreamCaptureMode)mode));
}

CUresult ovgen_capture_end(uintptr_t ctx, uintptr_t s, uintptr_t *graph) {
  IN(ctx, cu.StreamEndCapture((CUstream)s, (CUgraph *)graph));
}

CUresult ovgen_graph_instantiate(uintptr_t ctx, uintptr_t graph, uintptr_t *exec) {
  RELAXED(ctx, cu.GraphInstantiateWithFlags((CUgraphExec *)exec, (CUgraph)graph,
                                            CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
}

CUresult ovgen_graph_upload(uintptr_t ctx, uintptr_t exec, uintptr_t s) {
  RELAXED(ctx, cu.GraphUpload((CUgraphExec)exec, (CUstream)s));
}

CUresult ovgen_graph_launch(uintptr_t ctx, uintptr_t exec, uintptr_t s) {
  IN(ctx, cu.GraphLaunch((CUgraphExec)exec, (CUstream)s));
}

CUresult ovgen_graph_exec_destroy(uintptr_t ctx, uintptr_t exec) {
  RELAXED(ctx, cu.GraphExecDestroy((CUgraphExec)exec));
}

CUresult ovgen_graph_destroy(uintptr_t ctx, uintptr_t graph) { RELAXED(ctx, cu.GraphDestroy((CUgraph)graph)); }

CUresult ovgen_capture_info(uintptr_t ctx, uintptr_t s, uint64_t *id, uintptr_t *graph, uintptr_t *nodes, size_t most,
                            size_t *count) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph g = NULL;
  const CUgraphNode *list = NULL;
  cuuint64_t number = 0;
  size_t n = 0;
  CUresult r = ovgen_enter(ctx);
  if (r == CUDA_SUCCESS) r = cu.StreamGetCaptureInfo((CUstream)s, &status, &number, &g, &list, &n);
  if (r != CUDA_SUCCESS || status == CU_STREAM_CAPTURE_STATUS_NONE) return r;
  *id = number;
  *graph = (uintptr_t)g;
  *count = n;
  for (size_t i = 0; i < n && n <= most; i++) nodes[i] = (uintptr_t)list[i];
  return CUDA_SUCCESS;
}

CUresult ovgen_capture_update(uintptr_t ctx, uintptr_t s, const uintptr_t *nodes, size_t count) {
  IN(ctx, cu.StreamUpdateCaptureDependencies((CUstream)s, (CUgraphNode *)nodes, count,
                                             CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

CUresult ovgen_graph_edges(uintptr_t ctx, uintptr_t graph, int add, const uintptr_t *from, size_t count, uintptr_t to) {
  CUresult r = ovgen_enter(ctx);
  const CUgraphNode end = (CUgraphNode)to;
  for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
    const CUgraphNode start = (CUgraphNode)from[i];
    r = add ? cu.GraphAddDependencies((CUgraph)graph, &start, &end, 1)
            : cu.GraphRemoveDependencies((CUgraph)graph, &start, &end, 1);
  }
  return r;
}
