//go:build linux && cgo

#include "nccl.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct {
#define FIELD(name, result, parameters) result(*name) parameters;
#define OPTIONAL(name, from, parameters) int(*name) parameters;
  OVGEN_NCCL(FIELD)
  OVGEN_NCCL_WINDOWS(OPTIONAL)
} nccl;

/* NCCL asks for the thread's device, which is that of its context. */
static int (*set_current)(void *);

/* A function pointer is stored through memcpy: C knows no conversion from void *. */
#define FIND(name, result, parameters)                    \
  function = dlsym(library, "nccl" #name);                \
  if (!function) {                                        \
    snprintf(why, size, "it has no nccl" #name);          \
    dlclose(library);                                     \
    return 1;                                             \
  }                                                       \
  memcpy(&nccl.name, &function, sizeof function);

/* A version below that which a function is used from has none, or another. */
#define LOOK(name, from, parameters)                                  \
  function = version >= from ? dlsym(library, "nccl" #name) : NULL;   \
  memcpy(&nccl.name, &function, sizeof function);

int ovgen_nccl_load(const char *path, char *why, size_t size) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(why, size, "%s", dlerror());
    return 1;
  }
  void *function;
  OVGEN_NCCL(FIND)
  int version = ovgen_nccl_version();
  OVGEN_NCCL_WINDOWS(LOOK)
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  function = cuda ? dlsym(cuda, "cuCtxSetCurrent") : NULL;
  memcpy(&set_current, &function, sizeof function);
  return 0;
}

int ovgen_nccl_enters(void) { return set_current != NULL; }

int ovgen_nccl_version(void) {
  int version = 0;
  return nccl.GetVersion(&version) == ncclSuccess ? version : 0;
}

const char *ovgen_nccl_text(int result) { return nccl.GetErrorString(result); }

const char *ovgen_nccl_last(void) { return nccl.GetLastError(NULL); }

/* Each call begins by making the context current, on any thread. */
static int enter(uintptr_t ctx) {
  if (!ctx) return ncclSuccess;
  return set_current((void *)ctx) == 0 ? ncclSuccess : ncclSystemError;
}

#define ENTER(ctx)                   \
  int entered = enter(ctx);          \
  if (entered != ncclSuccess) return entered

int ovgen_nccl_id(uintptr_t ctx, ncclUniqueId *id) {
  ENTER(ctx);
  return nccl.GetUniqueId(id);
}

/* The newest release of which we know the configuration. */
enum { NEWEST = 23203 };

static size_t config_size(int version) {
  if (version >= 23200) return sizeof(ncclConfig_t);
  if (version >= 23100) return offsetof(ncclConfig_t, nvlsHostMode);
  if (version >= 23000) return offsetof(ncclConfig_t, launchOrderImplicit);
  if (version >= 22900) return offsetof(ncclConfig_t, maxP2pPeers);
  if (version >= 22800) return offsetof(ncclConfig_t, graphUsageMode);
  if (version >= 22700) return offsetof(ncclConfig_t, nChannelsPerNetPeer);
  return offsetof(ncclConfig_t, commName);
}

/* NCCL chooses all but two things: the communicator is nonblocking, and multicast is off. */
void ovgen_nccl_config(ncclConfig_t *config, int version) {
  if (version > NEWEST) version = NEWEST;
  memset(config, 0, sizeof *config);
  config->size = config_size(version);
  config->magic = 0xcafebeef;
  config->version = version;
  for (int *field = &config->cgaClusterSize; field <= &config->maxCTAs; field++) *field = INT_MIN;
  config->splitShare = config->trafficClass = INT_MIN;
  for (int *field = &config->collnetEnable; field <= &config->nvlsHostMode; field++) *field = INT_MIN;
  if (version < 22600) config->trafficClass = 0; /* padding there, as the next */
  if (version < 23005) config->graphStreamOrdering = 0;
  config->blocking = 0;
  if (version >= 23200) config->nvlsHostMode = INT_MAX;
}

int ovgen_nccl_init(uintptr_t ctx, ovgen_comm *c, int ranks, const ncclUniqueId *id, int rank) {
  ENTER(ctx);
  ncclConfig_t config;
  ovgen_nccl_config(&config, ovgen_nccl_version());
  c->ranks = ranks;
  return nccl.CommInitRankConfig(&c->comm, ranks, *id, rank, &config);
}

int ovgen_nccl_state(ovgen_comm *c) {
  if (!c->comm) return ncclInProgress;
  int state = ncclSuccess;
  int r = nccl.CommGetAsyncError(c->comm, &state);
  return r != ncclSuccess ? r : state;
}

static int fails(int result) { return result != ncclSuccess && result != ncclInProgress; }

/* Sends x->bytes to one rank, and receives another number of bytes from a rank. */
static int send_and_recv(ovgen_comm *c, const ovgen_collective *x, uintptr_t send, int to, uintptr_t recv, int from,
                         size_t receives) {
  cudaStream_t stream = (cudaStream_t)x->stream;
  int failed = nccl.Send((void *)send, x->bytes, ncclUint8, to, c->comm, stream);
  return fails(failed) ? failed : nccl.Recv((void *)recv, receives, ncclUint8, from, c->comm, stream);
}

/* One part, or part r of the send buffer to each rank r. All calls are in one group, whose state is the
   thread's: the group must end after an error too. */
static int grouped(ovgen_comm *c, const ovgen_collective *x) {
  int failed = nccl.GroupStart();
  if (fails(failed)) return failed;
  failed = ncclSuccess;
  if (x->kind == 'e') failed = send_and_recv(c, x, x->send, x->to, x->recv, x->from, x->receives);
  for (int r = 0; x->kind == 'x' && r < c->ranks && !fails(failed); r++)
    failed = send_and_recv(c, x, x->send + r * x->bytes, r, x->recv + r * x->bytes, r, x->bytes);
  int ended = nccl.GroupEnd();
  return fails(failed) ? failed : ended;
}

int ovgen_nccl_run(uintptr_t ctx, ovgen_comm *c, const ovgen_collective *x) {
  ENTER(ctx);
  const void *send = (void *)x->send;
  void *recv = (void *)x->recv;
  cudaStream_t stream = (cudaStream_t)x->stream;
  switch (x->kind) {
    case 'g': return nccl.AllGather(send, recv, x->bytes, ncclUint8, c->comm, stream);
    case 'r': return nccl.ReduceScatter(send, recv, x->count, x->type, ncclSum, c->comm, stream);
    case 'a': return nccl.AllReduce(send, recv, x->count, x->type, ncclSum, c->comm, stream);
    case 'x':
    case 'e': return grouped(c, x);
  }
  return ncclInvalidArgument;
}

int ovgen_nccl_abort(uintptr_t ctx, ovgen_comm *c) {
  ENTER(ctx);
  return nccl.CommAbort(c->comm);
}

/* Waits until a call has ended that has answered so. */
static int settle(ovgen_comm *c, int r) {
  while (r == ncclInProgress) {
    struct timespec a_while = {0, 100 * 1000};
    nanosleep(&a_while, NULL);
    r = ovgen_nccl_state(c);
  }
  return r;
}

/* Finalizing goes on in the background, and must have ended before the communicator is destroyed. */
int ovgen_nccl_destroy(uintptr_t ctx, ovgen_comm *c) {
  ENTER(ctx);
  int r = settle(c, nccl.CommFinalize(c->comm));
  return r != ncclSuccess ? r : nccl.CommDestroy(c->comm);
}

int ovgen_nccl_windows(void) {
  return nccl.MemAlloc && nccl.MemFree && nccl.CommWindowRegister && nccl.CommWindowDeregister;
}

int ovgen_nccl_mem_alloc(uintptr_t ctx, size_t bytes, uint64_t *p) {
  ENTER(ctx);
  void *at = NULL;
  int r = nccl.MemAlloc(&at, bytes);
  *p = (uintptr_t)at;
  return r;
}

int ovgen_nccl_mem_free(uintptr_t ctx, uint64_t p) {
  ENTER(ctx);
  return nccl.MemFree((void *)(uintptr_t)p);
}

int ovgen_nccl_window(uintptr_t ctx, ovgen_comm *c, uint64_t p, size_t bytes) {
  ENTER(ctx);
  return nccl.CommWindowRegister(c->comm, (void *)(uintptr_t)p, bytes, &c->window, NCCL_WIN_COLL_SYMMETRIC);
}

int ovgen_nccl_symmetric(uintptr_t ctx, ovgen_comm *c, int *symmetric) {
  ENTER(ctx);
  *symmetric = -1;
  if (!nccl.CommQueryProperties) return ncclSuccess;
  ncclCommProperties_t properties;
  memset(&properties, 0, sizeof properties);
  properties.size = sizeof properties;
  properties.magic = 0xcafebeef;
  properties.version = ovgen_nccl_version();
  int r = nccl.CommQueryProperties(c->comm, &properties);
  *symmetric = properties.deviceApiSupport;
  return r;
}

int ovgen_nccl_window_end(uintptr_t ctx, ovgen_comm *c) {
  ENTER(ctx);
  if (!c->window) return ncclSuccess;
  int r = nccl.CommWindowDeregister(c->comm, c->window);
  c->window = NULL;
  return fails(r) ? r : settle(c, ovgen_nccl_state(c));
}

_Static_assert(offsetof(ncclCommProperties_t, version) == 12, "ncclCommProperties_t");
_Static_assert(offsetof(ncclCommProperties_t, multimemSupport) == 33, "ncclCommProperties_t");
_Static_assert(sizeof(ncclConfig_t) == 120, "ncclConfig_t of 2.32");
_Static_assert(offsetof(ncclConfig_t, commName) == 48, "ncclConfig_t of 2.27");
_Static_assert(offsetof(ncclConfig_t, nChannelsPerNetPeer) == 72, "ncclConfig_t of 2.28");
_Static_assert(offsetof(ncclConfig_t, nvlsHostMode) == 112, "ncclConfig_t of 2.32");
