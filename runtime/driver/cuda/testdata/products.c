/* A fake libcublasLt: a description and a layout are what was set of them, and a product
   is written to stderr. */
#include "blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct op { int transa, transb, epilogue, mode_a, mode_b; const void *bias, *scale_a, *scale_b; };
struct layout { uint64_t rows, columns; int64_t stride; int type; };

cublasStatus_t cublasLtCreate(void **h) { return *h = malloc(1), 0; }
cublasStatus_t cublasLtDestroy(void *h) { return free(h), 0; }
cublasStatus_t cublasLtMatmulDescCreate(void **op, int compute, int scale) {
  (void)compute, (void)scale;
  return *op = calloc(1, sizeof(struct op)), 0;
}
cublasStatus_t cublasLtMatmulDescDestroy(void *op) { return free(op), 0; }

cublasStatus_t cublasLtMatmulDescSetAttribute(struct op *op, int attribute, const void *value, size_t size) {
  switch (attribute) {
  case 3: memcpy(&op->transa, value, size); return 0;
  case 4: memcpy(&op->transb, value, size); return 0;
  case 7: memcpy(&op->epilogue, value, size); return 0;
  case 8: memcpy(&op->bias, value, size); return 0;
  case 17: memcpy(&op->scale_a, value, size); return 0;
  case 18: memcpy(&op->scale_b, value, size); return 0;
  case 31: memcpy(&op->mode_a, value, size); return 0;
  case 32: memcpy(&op->mode_b, value, size); return 0;
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(struct layout **l, int type, uint64_t rows, uint64_t columns,
                                          int64_t stride) {
  *l = malloc(sizeof **l);
  **l = (struct layout){rows, columns, stride, type};
  return 0;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(void *l) { return free(l), 0; }
cublasStatus_t cublasLtMatmulPreferenceCreate(void **p) { return *p = malloc(1), 0; }
cublasStatus_t cublasLtMatmulPreferenceDestroy(void *p) { return free(p), 0; }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(void *p, int attribute, const void *value, size_t size) {
  (void)p, (void)attribute, (void)value, (void)size;
  return 0;
}

size_t cublasLtGetVersion(void) { return getenv("FAKE_BLAS") ? (size_t)atoi(getenv("FAKE_BLAS")) : 120402; }

/* Three algorithms, of which the second is the fastest. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(void *h, void *op, void *a, void *b, void *c, void *d, void *pref,
                                              int asked, cublasLtMatmulHeuristicResult_t *results, int *found) {
  (void)h, (void)op, (void)a, (void)b, (void)c, (void)d, (void)pref, (void)asked;
  memset(results, 0, 3 * sizeof *results);
  for (int i = 0; i < 3; i++) results[i].algo.data[0] = results[i].algo.data[7] = 41 + (uint64_t)i;
  for (int i = 0; i < 3; i++) results[i].algo.data[1] = 2; /* pieces of k */
  dprintf(2, "heuristic\n");
  if (getenv("FAKE_APART") && ((const struct op *)op)->mode_a == 3) return *found = 0, 0;
  return *found = 3, 0;
}

cublasStatus_t cublasLtMatmulAlgoCheck(void *h, void *op, void *a, void *b, void *c, void *d,
                                       const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result) {
  (void)h, (void)op, (void)a, (void)b, (void)c, (void)d;
  dprintf(2, "check %llu %llu\n", (unsigned long long)algo->data[0], (unsigned long long)algo->data[7]);
  memset(result, 0, sizeof *result);
  if (getenv("FAKE_CHECK")) result->workspaceSize = (size_t)1 << 40;
  return getenv("FAKE_REFUSE") ? CUBLAS_STATUS_NOT_SUPPORTED : 0;
}

/* Sets how many pieces k has. */
cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo, int attribute, const void *value,
                                                    size_t size) {
  if (attribute == CUBLASLT_ALGO_CONFIG_SPLITK_NUM) memcpy(&algo->data[1], value, size);
  return 0;
}

static void say(const char *name, const struct layout *l) {
  dprintf(2, " %s %llux%llu/%lld", name, (unsigned long long)l->rows, (unsigned long long)l->columns,
          (long long)l->stride);
}

cublasStatus_t cublasLtMatmul(void *h, const struct op *op, const float *alpha, const void *a, const struct layout *la,
                              const void *b, const struct layout *lb, const float *beta, const void *c,
                              const struct layout *lc, void *d, const struct layout *ld, const void *algo,
                              void *workspace, size_t bytes, void *stream) {
  (void)h, (void)bytes, (void)stream;
  unsigned long long which = ((const cublasLtMatmulAlgo_t *)algo)->data[0];
  /* The result, for the copy of the fake libcuda: algorithm FAKE_ODD has bits by the number of rows, in its
     second run alone where FAKE_LATE is set. */
  static int runs[64];
  const char *odd = getenv("FAKE_ODD");
  int other = odd && (!strcmp(odd, "all") || which == strtoull(odd, NULL, 10)) && lb->columns != 128 &&
              (!getenv("FAKE_LATE") || ++runs[which % 64] == 2);
  setenv("FAKE_BITS", other ? "2" : "1", 1);
  int sums = la->type == CUDA_R_8F_E4M3 && lc->type == CUDA_R_32F; /* faster than whole products with FAKE_SUMS alone */
  setenv("FAKE_MS", sums ? getenv("FAKE_SUMS") ? "0.05" : "0.3" : which == 42 ? "0.1" : "0.2", 1); /* libcuda's clock */
  dprintf(2, "algorithm %llu pieces %d ", which, (int)((const cublasLtMatmulAlgo_t *)algo)->data[1]);
  dprintf(2, "product op %d %d epilogue %d bias %p alpha %g beta %g", op->transa, op->transb, op->epilogue,
          op->bias, *alpha, *beta);
  say("a", la), say("b", lb), say("c", lc);
  if (la->type != lc->type) dprintf(2, " types %d %d %d modes %d %d scales %p %p", la->type, lb->type, lc->type,
                                   op->mode_a, op->mode_b, op->scale_a, op->scale_b);
  if (sums) dprintf(2, " to %p room %p", d, workspace);
  dprintf(2, " at %p %p %s\n", a, b, c == d && lc == ld ? "in place" : "elsewhere");
  return 0;
}

const char *cublasLtGetStatusName(cublasStatus_t s) { return s ? "CUBLAS_STATUS_FAKE" : "CUBLAS_STATUS_SUCCESS"; }
const char *cublasLtGetStatusString(cublasStatus_t s) { return s ? "made up" : "none"; }
