/* The part of the CUDA driver API that ovgen uses, under CUDA's own names. NVIDIA's cuda.h
   may be included first: then its types are used, and the compiler checks the table of
   functions against them. */
#ifndef OVGEN_CUDA_API_H
#define OVGEN_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#ifndef __cuda_cuda_h__
typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUdevice_P2PAttribute;
typedef int CUjit_option;
typedef int CUpointer_attribute;
typedef int CUstreamCaptureMode;
typedef int CUstreamCaptureStatus;
typedef int CUstreamBatchMemOpType;
typedef int CUmemAllocationGranularity_flags;
typedef int CUmemAllocationHandleType;
typedef int CUdriverProcAddressQueryResult;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef uint64_t cuuint64_t;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphNode_st *CUgraphNode;

typedef struct CUuuid_st {
  char bytes[16];
} CUuuid;

typedef struct CUipcMemHandle_st {
  char reserved[64];
} CUipcMemHandle;

typedef struct CUDA_MEMCPY2D_st {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

/* Waits and writes have the same fields, in the same places. */
typedef union CUstreamBatchMemOpParams_union {
  CUstreamBatchMemOpType operation;
  struct {
    CUstreamBatchMemOpType operation;
    CUdeviceptr address;
    union {
      uint32_t value;
      uint64_t value64;
    };
    unsigned int flags;
    CUdeviceptr alias;
  } waitValue, writeValue;
  uint64_t pad[6];
} CUstreamBatchMemOpParams;

typedef struct CUmemLocation_st {
  int type;
  int id;
} CUmemLocation;

typedef struct CUmemAllocationProp_st {
  int type;
  int requestedHandleTypes;
  CUmemLocation location;
  void *win32HandleMetaData;
  unsigned char allocFlags[8];
} CUmemAllocationProp;

typedef struct CUmemAccessDesc_st {
  CUmemLocation location;
  int flags;
} CUmemAccessDesc;

typedef struct CUlaunchAttribute_st {
  int id;
  char pad[8 - sizeof(int)];
  union {
    char pad[64];
    int programmaticStreamSerializationAllowed;
  } value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
  unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned int numAttrs;
} CUlaunchConfig;

enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,

  CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,

  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,

  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
  CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
  CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
  CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
  CU_MEMORYTYPE_DEVICE = 2,
  CU_MEMORYTYPE_UNIFIED = 4,

  CU_MEMHOSTREGISTER_PORTABLE = 1,
  CU_MEMHOSTREGISTER_DEVICEMAP = 2,
  CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1,

  CU_STREAM_NON_BLOCKING = 1,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
  CU_STREAM_CAPTURE_STATUS_NONE = 0,
  CU_STREAM_SET_CAPTURE_DEPENDENCIES = 1,
  CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
  CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
  CU_STREAM_WAIT_VALUE_EQ = 1,
  CU_STREAM_WRITE_VALUE_DEFAULT = 0,

  CU_EVENT_DISABLE_TIMING = 2,
  CU_EVENT_RECORD_EXTERNAL = 1,
  CU_EVENT_WAIT_EXTERNAL = 1,

  CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8,

  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,

  CU_MEM_ALLOCATION_TYPE_PINNED = 1,
  CU_MEM_LOCATION_TYPE_DEVICE = 1,
  CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
  CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
  CU_MEM_HANDLE_TYPE_FABRIC = 8,

  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
};
#endif

_Static_assert(sizeof(CUstreamBatchMemOpParams) == 48, "a batch item has 48 bytes");
_Static_assert(offsetof(CUstreamBatchMemOpParams, waitValue.address) == 8, "address");
_Static_assert(offsetof(CUstreamBatchMemOpParams, waitValue.value) == 16, "value");
_Static_assert(offsetof(CUstreamBatchMemOpParams, waitValue.flags) == 24, "flags");
_Static_assert(offsetof(CUstreamBatchMemOpParams, writeValue.flags) == 24, "flags");
_Static_assert(sizeof(CUipcMemHandle) == 64 && sizeof(CUuuid) == 16, "opaque blobs");
_Static_assert(sizeof(CUmemAllocationProp) == 32, "a kind of allocation");
_Static_assert(offsetof(CUmemAllocationProp, location) == 8, "its location");
_Static_assert(sizeof(CUmemAccessDesc) == 12, "an access right");
_Static_assert(sizeof(CUlaunchAttribute) == 72 && offsetof(CUlaunchAttribute, value) == 8, "a launch's attribute");
_Static_assert(offsetof(CUlaunchConfig, attrs) == 40 && offsetof(CUlaunchConfig, numAttrs) == 48, "a launch");

typedef uint32_t cuuint32_t;
typedef enum {
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
} CUfunction_attribute;
typedef enum { CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9 } CUtensorMapDataType;
typedef enum { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 } CUtensorMapInterleave;
typedef enum { CU_TENSOR_MAP_SWIZZLE_128B = 3 } CUtensorMapSwizzle;
typedef enum { CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3 } CUtensorMapL2promotion;
typedef enum { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0 } CUtensorMapFloatOOBfill;

/* X(name without cu, CUDA version that brought this signature, suffix of its
   symbol, parameters). Every function returns a CUresult. */
#define OVGEN_CUDA_REQUIRED(X)                                                                     \
  X(Init, 2000, "", (unsigned int))                                                                \
  X(DriverGetVersion, 2020, "", (int *))                                                           \
  X(GetErrorName, 6000, "", (CUresult, const char **))                                             \
  X(GetErrorString, 6000, "", (CUresult, const char **))                                           \
  X(DeviceGet, 2000, "", (CUdevice *, int))                                                        \
  X(DeviceGetCount, 2000, "", (int *))                                                             \
  X(DeviceGetName, 2000, "", (char *, int, CUdevice))                                              \
  X(DeviceGetUuid, 11040, "_v2", (CUuuid *, CUdevice))                                             \
  X(DeviceTotalMem, 3020, "_v2", (size_t *, CUdevice))                                             \
  X(DeviceGetAttribute, 2000, "", (int *, CUdevice_attribute, CUdevice))                           \
  X(DeviceCanAccessPeer, 4000, "", (int *, CUdevice, CUdevice))                                    \
  X(DeviceGetP2PAttribute, 8000, "", (int *, CUdevice_P2PAttribute, CUdevice, CUdevice))           \
  X(DevicePrimaryCtxRetain, 7000, "", (CUcontext *, CUdevice))                                     \
  X(DevicePrimaryCtxRelease, 11000, "_v2", (CUdevice))                                             \
  X(CtxSetCurrent, 4000, "", (CUcontext))                                                          \
  X(CtxGetCurrent, 4000, "", (CUcontext *))                                                        \
  X(CtxGetDevice, 2000, "", (CUdevice *))                                                          \
  X(CtxSynchronize, 2000, "", (void))                                                              \
  X(CtxGetStreamPriorityRange, 5050, "", (int *, int *))                                           \
  X(MemAlloc, 3020, "_v2", (CUdeviceptr *, size_t))                                                \
  X(MemFree, 3020, "_v2", (CUdeviceptr))                                                           \
  X(MemGetAddressRange, 3020, "_v2", (CUdeviceptr *, size_t *, CUdeviceptr))                       \
  X(PointerGetAttributes, 7000, "", (unsigned int, CUpointer_attribute *, void **, CUdeviceptr))   \
  X(MemHostRegister, 6050, "_v2", (void *, size_t, unsigned int))                                  \
  X(MemHostUnregister, 4000, "", (void *))                                                         \
  X(MemHostGetDevicePointer, 3020, "_v2", (CUdeviceptr *, void *, unsigned int))                   \
  X(IpcGetMemHandle, 4010, "", (CUipcMemHandle *, CUdeviceptr))                                    \
  X(IpcOpenMemHandle, 11000, "_v2", (CUdeviceptr *, CUipcMemHandle, unsigned int))                 \
  X(IpcCloseMemHandle, 4010, "", (CUdeviceptr))                                                    \
  X(MemcpyHtoD, 3020, "_v2", (CUdeviceptr, const void *, size_t))                                  \
  X(MemcpyDtoH, 3020, "_v2", (void *, CUdeviceptr, size_t))                                        \
  X(MemcpyDtoDAsync, 3020, "_v2", (CUdeviceptr, CUdeviceptr, size_t, CUstream))                    \
  X(Memcpy2DAsync, 3020, "_v2", (const CUDA_MEMCPY2D *, CUstream))                                 \
  X(MemcpyDtoHAsync, 3020, "_v2", (void *, CUdeviceptr, size_t, CUstream))                         \
  X(MemsetD32Async, 3020, "", (CUdeviceptr, unsigned int, size_t, CUstream))                       \
  X(StreamCreateWithPriority, 5050, "", (CUstream *, unsigned int, int))                           \
  X(StreamDestroy, 4000, "_v2", (CUstream))                                                        \
  X(StreamSynchronize, 2000, "", (CUstream))                                                       \
  X(StreamQuery, 2000, "", (CUstream))                                                             \
  X(StreamIsCapturing, 10000, "", (CUstream, CUstreamCaptureStatus *))                             \
  X(StreamGetCaptureInfo, 11030, "_v2",                                                            \
    (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *))  \
  X(StreamUpdateCaptureDependencies, 11030, "", (CUstream, CUgraphNode *, size_t, unsigned int))   \
  X(StreamWaitEvent, 3020, "", (CUstream, CUevent, unsigned int))                                  \
  X(StreamBatchMemOp, 11070, "_v2",                                                                \
    (CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int))                            \
  X(StreamBeginCapture, 10010, "_v2", (CUstream, CUstreamCaptureMode))                             \
  X(StreamEndCapture, 10000, "", (CUstream, CUgraph *))                                            \
  X(ThreadExchangeStreamCaptureMode, 10010, "", (CUstreamCaptureMode *))                           \
  X(EventCreate, 2000, "", (CUevent *, unsigned int))                                              \
  X(EventDestroy, 4000, "_v2", (CUevent))                                                          \
  X(EventRecordWithFlags, 11010, "", (CUevent, CUstream, unsigned int))                            \
  X(EventQuery, 2000, "", (CUevent))                                                               \
  X(EventSynchronize, 2000, "", (CUevent))                                                         \
  X(EventElapsedTime, 2000, "", (float *, CUevent, CUevent))                                       \
  X(ModuleLoadDataEx, 2010, "",                                                                    \
    (CUmodule *, const void *, unsigned int, CUjit_option *, void **))                             \
  X(ModuleGetFunction, 2000, "", (CUfunction *, CUmodule, const char *))                           \
  X(ModuleUnload, 2000, "", (CUmodule))                                                            \
  X(LaunchKernel, 4000, "",                                                                        \
    (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,             \
     unsigned int, unsigned int, CUstream, void **, void **))                                      \
  X(OccupancyMaxActiveBlocksPerMultiprocessor, 6050, "", (int *, CUfunction, int, size_t))         \
  X(GraphInstantiateWithFlags, 11040, "", (CUgraphExec *, CUgraph, unsigned long long))            \
  X(GraphUpload, 11010, "", (CUgraphExec, CUstream))                                               \
  X(GraphLaunch, 10000, "", (CUgraphExec, CUstream))                                               \
  X(GraphExecDestroy, 10000, "", (CUgraphExec))                                                    \
  X(GraphDestroy, 10000, "", (CUgraph))                                                            \
  X(GraphAddDependencies, 10000, "", (CUgraph, const CUgraphNode *, const CUgraphNode *, size_t))  \
  X(GraphRemoveDependencies, 10000, "", (CUgraph, const CUgraphNode *, const CUgraphNode *, size_t))

/* Functions that few programs or only tests use: a null entry makes the call answer "not supported". */
#define OVGEN_CUDA_OPTIONAL(X)                                                                     \
  X(FuncSetAttribute, 9000, "", (CUfunction, CUfunction_attribute, int))                           \
  X(LaunchKernelEx, 11060, "", (const CUlaunchConfig *, CUfunction, void **, void **))             \
  X(TensorMapEncodeTiled, 12000, "",                                                               \
    (void *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,      \
     const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,            \
     CUtensorMapL2promotion, CUtensorMapFloatOOBfill))                                             \
  X(MemAllocAsync, 11020, "", (CUdeviceptr *, size_t, CUstream))                                   \
  X(MemGetAllocationGranularity, 10020, "",                                                        \
    (size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags))                     \
  X(MemCreate, 10020, "",                                                                          \
    (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long))     \
  X(MemRelease, 10020, "", (CUmemGenericAllocationHandle))                                         \
  X(MemAddressReserve, 10020, "",                                                                  \
    (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long))                              \
  X(MemAddressFree, 10020, "", (CUdeviceptr, size_t))                                              \
  X(MemMap, 10020, "",                                                                             \
    (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long))               \
  X(MemUnmap, 10020, "", (CUdeviceptr, size_t))                                                    \
  X(MemSetAccess, 10020, "", (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t))               \
  X(MemRetainAllocationHandle, 11000, "", (CUmemGenericAllocationHandle *, void *))                \
  X(MemGetAllocationPropertiesFromHandle, 10020, "",                                               \
    (CUmemAllocationProp *, CUmemGenericAllocationHandle))                                         \
  X(MemExportToShareableHandle, 10020, "",                                                         \
    (void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long))         \
  X(MemImportFromShareableHandle, 10020, "",                                                       \
    (CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType))

#define OVGEN_CUDA_FIELD(name, version, suffix, params) CUresult(*name) params;
struct ovgen_cuda {
  OVGEN_CUDA_REQUIRED(OVGEN_CUDA_FIELD)
  OVGEN_CUDA_OPTIONAL(OVGEN_CUDA_FIELD)
};

/* The table; filled once by ovgen_cuda_load before anything else is called. */
extern struct ovgen_cuda ovgen_cuda;

/* Opens the library and fills the table. Returns 0, or 1 with the reason in why;
   then the table is left as it was. */
int ovgen_cuda_load(const char *library, char *why, size_t size);

/* Remembers the handlers of all signals, and restores the changed ones. */
void ovgen_signals_save(void);
void ovgen_signals_restore(void);

#endif
