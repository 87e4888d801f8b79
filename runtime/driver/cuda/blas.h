/* The part of cuBLASLt that ovgen uses, under its own names, and products made of it.
   NVIDIA's cublasLt.h may be included first, as in api.h. */
#ifndef OVGEN_CUDA_BLAS_H
#define OVGEN_CUDA_BLAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA
typedef int cublasStatus_t;
typedef int cublasComputeType_t;
typedef int cudaDataType;
typedef int cublasLtMatmulDescAttributes_t;
typedef int cublasLtMatmulPreferenceAttributes_t;
typedef int cublasLtMatmulAlgoConfigAttributes_t;
typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct cublasLtMatmulDescOpaque *cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayoutOpaque *cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreferenceOpaque *cublasLtMatmulPreference_t;
typedef struct CUstream_st *cudaStream_t;

typedef struct {
  uint64_t data[8];
} cublasLtMatmulAlgo_t;

typedef struct {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
} cublasLtMatmulHeuristicResult_t;

enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUDA_R_32F = 0,
  CUDA_R_16F = 2,
  CUDA_R_16BF = 14,
  CUDA_R_8F_E4M3 = 28, CUDA_R_8F_E5M2 = 29,
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,
  CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
  CUBLASLT_ALGO_CONFIG_SPLITK_NUM = 2,
  CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME = 3,
  CUBLASLT_REDUCTION_SCHEME_INPLACE = 1,
  CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2,
};
#endif

_Static_assert(sizeof(cublasLtMatmulAlgo_t) == 64, "an algorithm has 64 bytes");
_Static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == 96, "a choice has 96 bytes");
_Static_assert(offsetof(cublasLtMatmulHeuristicResult_t, state) == 72, "its state");

/* X(name without cublasLt, parameters): the functions that return a status. */
#define OVGEN_BLAS_FUNCTIONS(X)                                                                    \
  X(Create, (cublasLtHandle_t *))                                                                  \
  X(Destroy, (cublasLtHandle_t))                                                                   \
  X(MatmulDescCreate, (cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType))                 \
  X(MatmulDescDestroy, (cublasLtMatmulDesc_t))                                                     \
  X(MatmulDescSetAttribute,                                                                        \
    (cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void *, size_t))                  \
  X(MatrixLayoutCreate, (cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t, int64_t))     \
  X(MatrixLayoutDestroy, (cublasLtMatrixLayout_t))                                                 \
  X(MatmulPreferenceCreate, (cublasLtMatmulPreference_t *))                                        \
  X(MatmulPreferenceDestroy, (cublasLtMatmulPreference_t))                                         \
  X(MatmulPreferenceSetAttribute,                                                                  \
    (cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void *, size_t))      \
  X(MatmulAlgoGetHeuristic,                                                                        \
    (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,       \
     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,              \
     cublasLtMatmulHeuristicResult_t[], int *))                                                    \
  X(MatmulAlgoCheck,                                                                               \
    (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,       \
     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *,                 \
     cublasLtMatmulHeuristicResult_t *))                                                           \
  X(MatmulAlgoConfigSetAttribute,                                                                  \
    (cublasLtMatmulAlgo_t *, cublasLtMatmulAlgoConfigAttributes_t, const void *, size_t))          \
  X(Matmul,                                                                                        \
    (cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t,   \
     const void *, cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t,     \
     void *, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t))

#define OVGEN_BLAS_FIELD(name, params) cublasStatus_t(*name) params;
struct ovgen_blas {
  OVGEN_BLAS_FUNCTIONS(OVGEN_BLAS_FIELD)
  const char *(*GetStatusName)(cublasStatus_t);
  const char *(*GetStatusString)(cublasStatus_t);
  size_t (*GetVersion)(void);
};
extern struct ovgen_blas ovgen_blas;

/* Opens the library and fills the table; 0, or 1 with the reason in why. */
int ovgen_blas_load(const char *library, char *why, size_t size);

/* How many of the heuristic's choices are tried: of one number of rows, and of several. */
enum { OVGEN_CHOICES = 8, OVGEN_MOST_CHOICES = 24 };

/* The bytes of an algorithm, as it is kept. */
enum { OVGEN_ALGORITHM = sizeof(cublasLtMatmulAlgo_t) + 1 };

/* How many rows of a product in order are compared with a product of as many. */
enum { OVGEN_ORDER_ROWS = 128 };

/* Of headers from 12.9 on: a scale for each row of cuBLASLt's A and each column of its B, for each block of those,
   or for each square of them. */
enum { OVGEN_DESC_A_SCALE_MODE = 31, OVGEN_DESC_B_SCALE_MODE = 32, OVGEN_SCALE_OUTER_VEC_32F = 3,
       OVGEN_SCALE_VEC128_32F = 4, OVGEN_SCALE_BLK128X128_32F = 5, OVGEN_SCALE_BLOCK = 128 };

/* Answers of ovgen_matmul besides a cublasStatus_t: an address is less aligned than
   the product was tuned for, the context can't be made current, an operand lies
   where the result goes, or a scale is missing or not aligned to 16 bytes. */
enum { OVGEN_MISALIGNED = 1000, OVGEN_NO_CONTEXT = 1001, OVGEN_OVERLAP = 1002, OVGEN_NO_SCALE = 1003 };
enum { OVGEN_RESCALE = 2000 }; /* and the CUresult of the launch that should have applied scales */

/* A row-major product c[m,n] = a b (+ bias[n]); a is [m,k], or [k,m] if transposed_a, b is
   [k,n], or [n,k] if transposed. Then comes the epilogue, or what c held is added. */
typedef struct {
  uint64_t m, k, n;
  int type; /* cudaDataType */
  int epilogue;
  int of, of_b; /* cudaDataTypes of a and b, which have scales where they have 8 bits */
  bool transposed, transposed_a, bias, accumulate, row_scales, block_scales;
  bool in_order;     /* no algorithm splits k */
  uintptr_t rescale; /* the CUfunction of rescale.cu for the type, which may apply scales of rows, or none */
} ovgen_shape;

/* Calls in which a context must be current already. */
cublasStatus_t ovgen_blas_create(uintptr_t *handle);
cublasStatus_t ovgen_blas_destroy(uintptr_t handle);
/* 120402 for 12.4.2. */
size_t ovgen_blas_version(void);
void ovgen_blas_error(cublasStatus_t code, const char **name, const char **text);

/* Makes a product and asks for its choices. bias is an address aligned to 256 bytes:
   the heuristic judges a bias by its address, and is shown one that is aligned no
   better than the product expects. On failure *call names the call that refused. */
cublasStatus_t ovgen_product_create(uintptr_t handle, const ovgen_shape *shape, uint64_t bias, size_t workspace,
                                    uintptr_t *product, int *choices, const char **call);
/* Makes a product of an algorithm that was chosen before, as ovgen_product_algorithm gave it: OVGEN_ALGORITHM bytes, of
   which the last says that a kernel applies scales of rows. *call names what refuses it. */
cublasStatus_t ovgen_product_restore(uintptr_t handle, const ovgen_shape *shape, uint64_t bias, size_t workspace,
                                     const void *algorithm, uintptr_t *product, const char **call);
void ovgen_product_choose(uintptr_t product, int choice);
void ovgen_product_algorithm(uintptr_t product, void *algorithm);
void ovgen_product_destroy(uintptr_t product);

/* Alignment in bytes that the product expects of every address. */
void ovgen_product_alignment(uintptr_t product, uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *bias);

/* Enqueues the product with the chosen algorithm. Safe on many threads at once. */
int ovgen_matmul(uintptr_t ctx, uintptr_t product, uint64_t c, uint64_t a, uint64_t b, uint64_t bias,
                 uint64_t scale_a, uint64_t scale_b, uint64_t workspace, uintptr_t stream);

#endif
