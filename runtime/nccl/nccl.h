/* The part of NCCL that ovgen uses, under NCCL's own names: no header of NCCL or CUDA is needed. */
#ifndef OVGEN_NCCL_H
#define OVGEN_NCCL_H

#include <stddef.h>
#include <stdint.h>

typedef struct ncclComm *ncclComm_t;
typedef struct ncclWindow *ncclWindow_t;
typedef struct CUstream_st *cudaStream_t; /* a CUstream */

typedef struct {
  char internal[128];
} ncclUniqueId; /* passed by value */

enum {
  ncclSuccess = 0,
  ncclSystemError = 2,
  ncclInvalidArgument = 4,
  ncclInProgress = 7,

  ncclUint8 = 1,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclBfloat16 = 9,

  ncclSum = 0,

  NCCL_WIN_COLL_SYMMETRIC = 1,
};

/* The beginning of ncclCommProperties_t, of which a library fills in what it knows. */
typedef union {
  struct {
    size_t size;
    unsigned magic, version;
  };
  struct {
    char unused[32];
    unsigned char deviceApiSupport, multimemSupport;
  };
  char room[256];
} ncclCommProperties_t;

/* ncclConfig_t as of 2.32. Each release has appended to the one before, or used its padding: a
   library reads as many bytes as size says, and of these the fields of that version. */
typedef struct {
  size_t size;
  unsigned magic, version;
  int blocking, cgaClusterSize, minCTAs, maxCTAs;
  const char *netName;
  int splitShare;
  int trafficClass; /* 2.26 */
  const char *commName; /* 2.27 */
  int collnetEnable, CTAPolicy, shrinkShare, nvlsCTAs;
  int nChannelsPerNetPeer, nvlinkCentricSched; /* 2.28 */
  int graphUsageMode, numRmaCtx; /* 2.29 */
  int maxP2pPeers; /* 2.30.3 */
  int graphStreamOrdering; /* 2.30.5 */
  int launchOrderImplicit, numRmaSig, rmaEagerInit, hostCftMode; /* 2.31 */
  int nvlsHostMode; /* 2.32 */
} ncclConfig_t;

/* X(name, result, parameters) of each function; all are in 2.19. */
#define OVGEN_NCCL(X)                                                                             \
  X(GetVersion, int, (int *))                                                                     \
  X(GetErrorString, const char *, (int))                                                          \
  X(GetLastError, const char *, (ncclComm_t))                                                     \
  X(GetUniqueId, int, (ncclUniqueId *))                                                           \
  X(CommInitRankConfig, int, (ncclComm_t *, int, ncclUniqueId, int, ncclConfig_t *))              \
  X(CommGetAsyncError, int, (ncclComm_t, int *))                                                  \
  X(CommFinalize, int, (ncclComm_t))                                                              \
  X(CommDestroy, int, (ncclComm_t))                                                               \
  X(CommAbort, int, (ncclComm_t))                                                                 \
  X(GroupStart, int, (void))                                                                      \
  X(GroupEnd, int, (void))                                                                        \
  X(AllGather, int, (const void *, void *, size_t, int, ncclComm_t, cudaStream_t))                \
  X(ReduceScatter, int, (const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t))       \
  X(AllReduce, int, (const void *, void *, size_t, int, int, ncclComm_t, cudaStream_t))           \
  X(Send, int, (const void *, size_t, int, int, ncclComm_t, cudaStream_t))                        \
  X(Recv, int, (void *, size_t, int, int, ncclComm_t, cudaStream_t))

/* Functions of windows, each with the version that it is used from; a library may lack them. */
#define OVGEN_NCCL_WINDOWS(X)                                                                     \
  X(MemAlloc, 21900, (void **, size_t))                                                           \
  X(MemFree, 21900, (void *))                                                                     \
  X(CommWindowRegister, 22700, (ncclComm_t, void *, size_t, ncclWindow_t *, int))                 \
  X(CommWindowDeregister, 22700, (ncclComm_t, ncclWindow_t))                                      \
  X(CommQueryProperties, 22902, (ncclComm_t, ncclCommProperties_t *))

/* The places of a communicator and its window, which NCCL writes from a thread of its own. */
typedef struct {
  ncclComm_t comm;
  ncclWindow_t window;
  int ranks;
} ovgen_comm;

/* One collective of kind 'g' all-gather, 'r' reduce-scatter, 'a' all-reduce, 'x' all-to-all or 'e' exchange
   with the ranks to and from, of parts of count elements of a type. An exchange sends
   `bytes` bytes and receives `receives` bytes. */
typedef struct {
  int kind, type, to, from;
  size_t count, bytes, receives;
  uintptr_t send, recv, stream;
} ovgen_collective;

int ovgen_nccl_load(const char *path, char *why, size_t size);
int ovgen_nccl_enters(void); /* whether calls can make a context current */
int ovgen_nccl_version(void);
const char *ovgen_nccl_text(int result);
const char *ovgen_nccl_last(void);
int ovgen_nccl_id(uintptr_t ctx, ncclUniqueId *id);
void ovgen_nccl_config(ncclConfig_t *config, int version);
int ovgen_nccl_init(uintptr_t ctx, ovgen_comm *c, int ranks, const ncclUniqueId *id, int rank);
int ovgen_nccl_state(ovgen_comm *c);
int ovgen_nccl_run(uintptr_t ctx, ovgen_comm *c, const ovgen_collective *x);
int ovgen_nccl_abort(uintptr_t ctx, ovgen_comm *c);
int ovgen_nccl_destroy(uintptr_t ctx, ovgen_comm *c);

int ovgen_nccl_windows(void); /* whether the library has them */
int ovgen_nccl_mem_alloc(uintptr_t ctx, size_t bytes, uint64_t *p);
int ovgen_nccl_mem_free(uintptr_t ctx, uint64_t p);
int ovgen_nccl_window(uintptr_t ctx, ovgen_comm *c, uint64_t p, size_t bytes);
/* Whether kernels reach the memory of all ranks: 1 or 0, and -1 where the library does not say. */
int ovgen_nccl_symmetric(uintptr_t ctx, ovgen_comm *c, int *symmetric);
int ovgen_nccl_window_end(uintptr_t ctx, ovgen_comm *c);

#endif
