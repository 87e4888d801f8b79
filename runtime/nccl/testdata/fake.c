/* A libnccl.so.2 that prints its calls and communicates nothing. FAKE_VERSION is its
   version; a call is in progress for as many questions as FAKE_BUSY says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { char internal[128]; } id_t_;

static int busy;

static int begun(void) {
  busy = getenv("FAKE_BUSY") ? atoi(getenv("FAKE_BUSY")) : 0;
  fflush(stdout);
  return busy ? 7 : 0;
}

static int failing(const char *name) {
  const char *of = getenv("FAKE_FAIL");
  return of && !strcmp(of, name);
}

int ncclGetVersion(int *version) {
  *version = atoi(getenv("FAKE_VERSION"));
  static int printed;
  if (!printed++)
    printf("start multicast %s ras %s order %s\n", getenv("NCCL_NVLS_ENABLE"), getenv("NCCL_RAS_ENABLE"),
           getenv("NCCL_LAUNCH_ORDER_IMPLICIT"));
  return 0;
}

const char *ncclGetErrorString(int result) { return result == 4 ? "made up argument" : "made up"; }

const char *ncclGetLastError(void *comm) { return comm ? "not asked so" : "the last one"; }

int ncclGetUniqueId(id_t_ *id) {
  memset(id, 7, sizeof *id);
  return 0;
}

/* The configuration, read by the offsets of each version's header: all that is left open is
   left out. */
int ncclCommInitRankConfig(void **comm, int ranks, id_t_ id, int rank, char *config) {
  const int open = -2147483647 - 1;
  size_t size;
  memcpy(&size, config, sizeof size);
  printf("init rank %d of %d id %d..%d size %zu magic %x", rank, ranks, id.internal[0], id.internal[127], size,
         *(unsigned *)(config + 8));
  for (size_t at = 12; at + 4 <= size; at += 4) {
    if (at == 32 || at == 48) { /* netName and commName */
      if (size > at + 4 && *(char **)(config + at)) printf(" name at %zu", at);
      at += 4;
      continue;
    }
    if (*(int *)(config + at) != open) printf(" %zu:%d", at, *(int *)(config + at));
  }
  printf("\n");
  if (failing("CommInitRankConfig")) return 4;
  *comm = (void *)0x99;
  return begun();
}

int ncclCommGetAsyncError(void *comm, int *state) {
  *state = busy > 0 ? 7 : failing("CommGetAsyncError") ? 6 : 0;
  if (busy > 0) busy--;
  return comm == (void *)0x99 ? 0 : 4;
}

int ncclCommFinalize(void *comm) {
  printf("finalize %p\n", comm);
  return begun();
}

int ncclCommDestroy(void *comm) {
  printf("destroy %p busy %d\n", comm, busy);
  return 0;
}

int ncclCommAbort(void *comm) {
  printf("abort %p\n", comm);
  fflush(stdout);
  return 0;
}

static int grouped;

int ncclGroupStart(void) {
  printf("group\n");
  grouped = 1;
  return 0;
}

int ncclGroupEnd(void) {
  printf("end\n");
  grouped = 0;
  return begun();
}

int ncclAllGather(const void *send, void *recv, size_t count, int type, void *comm, void *stream) {
  printf("all-gather %p to %p, %zu of type %d on %p of %p\n", send, recv, count, type, stream, comm);
  return begun();
}

int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream) {
  printf("reduce-scatter %p to %p, %zu of type %d by %d on %p of %p\n", send, recv, count, type, op, stream, comm);
  return begun();
}

int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream) {
  printf("all-reduce %p to %p, %zu of type %d by %d on %p of %p\n", send, recv, count, type, op, stream, comm);
  return begun();
}

int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream) {
  printf("send %p, %zu of type %d to %d on %p of %p grouped %d\n", send, count, type, peer, stream, comm, grouped);
  return failing("Send") ? 4 : 7;
}

/* Windows. FAKE_WINDOW is the one that is made, and FAKE_SYMMETRIC what the library says of it. */
int ncclMemAlloc(void **p, size_t bytes) {
  printf("memory %zu\n", bytes);
  fflush(stdout);
  *p = (void *)0x200000;
  return failing("MemAlloc") ? 4 : 0;
}

int ncclMemFree(void *p) {
  printf("free %p\n", p);
  fflush(stdout);
  return 0;
}

int ncclCommWindowRegister(void *comm, void *p, size_t bytes, void **window, int flags) {
  printf("window of %p: %zu at %p flags %d\n", comm, bytes, p, flags);
  *window = getenv("FAKE_WINDOW") ? NULL : (void *)0x77;
  return begun();
}

int ncclCommWindowDeregister(void *comm, void *window) {
  printf("no window of %p: %p\n", comm, window);
  return begun();
}

int ncclCommQueryProperties(void *comm, char *properties) {
  size_t size;
  memcpy(&size, properties, sizeof size);
  printf("properties of %p size %zu magic %x version %u\n", comm, size, *(unsigned *)(properties + 8),
         *(unsigned *)(properties + 12));
  fflush(stdout);
  properties[32] = getenv("FAKE_SYMMETRIC") != NULL;
  return 0;
}

#ifndef WITHOUT_RECV
int ncclRecv(void *recv, size_t count, int type, int peer, void *comm, void *stream) {
  printf("recv %p, %zu of type %d from %d on %p of %p grouped %d\n", recv, count, type, peer, stream, comm, grouped);
  return 7;
}
#endif
