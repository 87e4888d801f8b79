/* The calls that Go makes: one function for each method of the driver, and two or
   three CUDA calls in it at most. Handles cross as integers, so that no CUDA handle
   is ever mistaken for a Go pointer. Each returns a CUresult. */
#ifndef OVGEN_CUDA_CALLS_H
#define OVGEN_CUDA_CALLS_H

#include <stdbool.h>

#include "api.h"

/* One item of a batch as Go lays it out (driver.MemOp). */
typedef struct {
  uint32_t kind; /* OVGEN_WAIT until the word is equal, or OVGEN_WRITE */
  uint32_t value;
  uint64_t address;
} ovgen_memop;

/* The most items given to CUDA in one batch, and the kinds of items. */
enum { OVGEN_BATCH = 255, OVGEN_WAIT = 0, OVGEN_WRITE = 1 };

/* The attributes that the driver knows of an address. */
typedef struct {
  uint64_t type, buffer, managed, legacy_ipc, pool, ordinal;
} ovgen_attributes;

CUresult ovgen_init(void);
CUresult ovgen_version(int *version);
void ovgen_error(CUresult code, const char **name, const char **text);
CUresult ovgen_device_count(int *count);
CUresult ovgen_device_name(int ordinal, char *name, int size);
CUresult ovgen_device_uuid(int ordinal, char uuid[16]);
CUresult ovgen_device_memory(int ordinal, size_t *bytes);
CUresult ovgen_device_attribute(int ordinal, int attribute, int *value);
CUresult ovgen_device_can_access(int ordinal, int peer, int *can);
CUresult ovgen_device_p2p(int ordinal, int peer, int attribute, int *value);
CUresult ovgen_ctx_retain(int ordinal, uintptr_t *ctx);
CUresult ovgen_ctx_release(int ordinal);
CUresult ovgen_ctx_device(uintptr_t ctx, int *device);
CUresult ovgen_ctx_priorities(uintptr_t ctx, int *least, int *greatest);
CUresult ovgen_ctx_synchronize(uintptr_t ctx);
/* Makes the context current and exchanges the thread's capture mode with *mode. */
CUresult ovgen_capture_mode(uintptr_t ctx, int *mode);

CUresult ovgen_mem_alloc(uintptr_t ctx, uint64_t *p, size_t bytes);
CUresult ovgen_mem_free(uintptr_t ctx, uint64_t p);
CUresult ovgen_mem_range(uintptr_t ctx, uint64_t p, uint64_t *base, size_t *bytes);
CUresult ovgen_mem_attributes(uintptr_t ctx, uint64_t p, ovgen_attributes *a);
CUresult ovgen_host_register(uintptr_t ctx, char *host, size_t bytes, uint64_t *p);
CUresult ovgen_host_unregister(uintptr_t ctx, char *host);
CUresult ovgen_ipc_export(uintptr_t ctx, uint64_t base, char handle[64]);
CUresult ovgen_ipc_open(uintptr_t ctx, const char handle[64], uint64_t *p);
CUresult ovgen_ipc_close(uintptr_t ctx, uint64_t p);
CUresult ovgen_copy_in(uintptr_t ctx, uint64_t dst, const char *src, size_t bytes);
CUresult ovgen_copy_out(uintptr_t ctx, char *dst, uint64_t src, size_t bytes);
CUresult ovgen_copy(uintptr_t ctx, uint64_t dst, uint64_t src, size_t bytes, uintptr_t s);
CUresult ovgen_copy_2d(uintptr_t ctx, uint64_t dst, size_t dst_pitch, uint64_t src, size_t src_pitch, size_t width,
                       size_t height, uintptr_t s);
CUresult ovgen_copy_out_async(uintptr_t ctx, char *dst, uint64_t src, size_t bytes, uintptr_t s);
CUresult ovgen_memset(uintptr_t ctx, uint64_t dst, uint32_t value, size_t words, uintptr_t s);
CUresult ovgen_alloc_pooled(uintptr_t ctx, uint64_t *p, size_t bytes, uintptr_t s);

CUresult ovgen_physical_granularity(uintptr_t ctx, int ordinal, size_t *unit);
CUresult ovgen_physical_create(uintptr_t ctx, int ordinal, size_t bytes, int types, uint64_t *h);
CUresult ovgen_physical_retain(uintptr_t ctx, uint64_t p, uint64_t *h);
CUresult ovgen_physical_types(uintptr_t ctx, uint64_t h, int *types);
/* A file's descriptor goes to *file and comes by file, a fabric's handle by the 64 bytes. */
CUresult ovgen_physical_export(uintptr_t ctx, uint64_t h, int type, int *file, char fabric[64]);
CUresult ovgen_physical_import(uintptr_t ctx, int type, int file, const char fabric[64], uint64_t *h);
CUresult ovgen_physical_release(uintptr_t ctx, uint64_t h);
CUresult ovgen_address_reserve(uintptr_t ctx, size_t bytes, uint64_t *p);
CUresult ovgen_address_free(uintptr_t ctx, uint64_t p, size_t bytes);
CUresult ovgen_map(uintptr_t ctx, uint64_t p, size_t bytes, uint64_t h);
CUresult ovgen_unmap(uintptr_t ctx, uint64_t p, size_t bytes);
CUresult ovgen_set_access(uintptr_t ctx, uint64_t p, size_t bytes, int ordinal);

CUresult ovgen_stream_create(uintptr_t ctx, int priority, uintptr_t *s);
CUresult ovgen_stream_destroy(uintptr_t ctx, uintptr_t s);
CUresult ovgen_stream_synchronize(uintptr_t ctx, uintptr_t s);
CUresult ovgen_stream_query(uintptr_t ctx, uintptr_t s);
CUresult ovgen_stream_capturing(uintptr_t ctx, uintptr_t s, int *capturing);
CUresult ovgen_stream_wait(uintptr_t ctx, uintptr_t s, uintptr_t e, int external);
CUresult ovgen_stream_batch(uintptr_t ctx, uintptr_t s, const ovgen_memop *items, size_t count);
CUresult ovgen_event_create(uintptr_t ctx, int timing, uintptr_t *e);
CUresult ovgen_event_destroy(uintptr_t ctx, uintptr_t e);
CUresult ovgen_event_record(uintptr_t ctx, uintptr_t e, uintptr_t s, int external);
CUresult ovgen_event_query(uintptr_t ctx, uintptr_t e);
CUresult ovgen_event_synchronize(uintptr_t ctx, uintptr_t e);
CUresult ovgen_event_elapsed(uintptr_t ctx, uintptr_t from, uintptr_t to, float *ms);

CUresult ovgen_module_load(uintptr_t ctx, const char *ptx, uintptr_t *m, char *log, size_t size);
CUresult ovgen_module_function(uintptr_t ctx, uintptr_t m, const char *name, uintptr_t *f);
/* Lets blocks of f have so many bytes of dynamic shared memory. */
CUresult ovgen_function_shared(uintptr_t ctx, uintptr_t f, int bytes, bool early);
CUresult ovgen_occupancy(uintptr_t ctx, uintptr_t f, int threads, size_t shared, int *blocks);
CUresult ovgen_tensor_map(uint64_t map[16], int type, uint64_t at, uint64_t shards, uint64_t rows, uint64_t columns,
                          uint32_t box_rows);
CUresult ovgen_module_unload(uintptr_t ctx, uintptr_t m);
/* An early launch may start when the one before it on its stream lets it, ahead of that one's end. */
CUresult ovgen_launch(uintptr_t ctx, uintptr_t f, const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
                      bool early, uintptr_t s, char *params);
CUresult ovgen_capture_begin(uintptr_t ctx, uintptr_t s, int mode);
CUresult ovgen_capture_end(uintptr_t ctx, uintptr_t s, uintptr_t *graph);
CUresult ovgen_graph_instantiate(uintptr_t ctx, uintptr_t graph, uintptr_t *exec);
CUresult ovgen_graph_upload(uintptr_t ctx, uintptr_t exec, uintptr_t s);
CUresult ovgen_graph_launch(uintptr_t ctx, uintptr_t exec, uintptr_t s);
CUresult ovgen_graph_exec_destroy(uintptr_t ctx, uintptr_t exec);
CUresult ovgen_graph_destroy(uintptr_t ctx, uintptr_t graph);

/* The capture of a stream, and as many of its nodes as there is room for; id is 0 outside of one. */
CUresult ovgen_capture_info(uintptr_t ctx, uintptr_t s, uint64_t *id, uintptr_t *graph, uintptr_t *nodes, size_t most,
                            size_t *count);
CUresult ovgen_capture_update(uintptr_t ctx, uintptr_t s, const uintptr_t *nodes, size_t count);
/* Adds, or removes, the edges from nodes to one. */
CUresult ovgen_graph_edges(uintptr_t ctx, uintptr_t graph, int add, const uintptr_t *from, size_t count, uintptr_t to);

#endif
