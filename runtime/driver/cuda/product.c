//go:build linux && cgo

#include "blas.h"
#include "calls.h"
#include "enter.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define lt ovgen_blas

/* cuBLASLt counts columns first, so the row-major product is asked for as
   c'[n,m] = b'[n,k] a'[k,m]: its A is our b, its B our a, and its bias over rows
   is ours over columns. Its C, which beta scales, is the place of its D.

   Scales of rows cuBLASLt applies, WHOLE, or it leaves SUMS in fp32 at the front of
   the workspace, and the shape's kernel applies them. */
enum form { WHOLE, SUMS, FORMS };

struct product {
  cublasLtHandle_t handle;
  ovgen_shape shape;
  cublasLtMatrixLayout_t a, b, c[FORMS];
  uint64_t align_a, align_b, align_c, align_bias;
  size_t workspace, sums; /* bytes; without sums the product is whole */
  int choice;
  cublasLtMatmulHeuristicResult_t choices[OVGEN_MOST_CHOICES];
  enum form forms[OVGEN_MOST_CHOICES];
  /* A description that no call is using, or null. A call takes it, sets its own
     bias pointer and puts it back: no lock is held while work is enqueued. */
  _Atomic(cublasLtMatmulDesc_t) spare[FORMS];
};

/* The first refusal ends a sequence of calls and leaves its name in *call. */
#define TRY(function, ...)                                       \
  do {                                                           \
    *call = "cublasLt" #function;                                \
    cublasStatus_t status = lt.function(__VA_ARGS__);            \
    if (status != CUBLAS_STATUS_SUCCESS) return status;          \
  } while (0)

static cublasStatus_t set_form(const ovgen_shape *shape, enum form form, cublasLtMatmulDesc_t op, const char **call) {
  int32_t b = shape->transposed ? CUBLAS_OP_T : CUBLAS_OP_N, a = shape->transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  uint32_t epilogue = form == SUMS ? CUBLASLT_EPILOGUE_DEFAULT : (uint32_t)shape->epilogue;
  TRY(MatmulDescSetAttribute, op, CUBLASLT_MATMUL_DESC_TRANSA, &b, sizeof b);
  TRY(MatmulDescSetAttribute, op, CUBLASLT_MATMUL_DESC_TRANSB, &a, sizeof a);
  TRY(MatmulDescSetAttribute, op, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  if (form == SUMS || !(shape->row_scales || shape->block_scales)) return CUBLAS_STATUS_SUCCESS;
  int32_t of_b = shape->block_scales ? OVGEN_SCALE_BLK128X128_32F : OVGEN_SCALE_OUTER_VEC_32F;
  int32_t of_a = shape->block_scales ? OVGEN_SCALE_VEC128_32F : OVGEN_SCALE_OUTER_VEC_32F;
  TRY(MatmulDescSetAttribute, op, OVGEN_DESC_A_SCALE_MODE, &of_b, sizeof of_b);
  TRY(MatmulDescSetAttribute, op, OVGEN_DESC_B_SCALE_MODE, &of_a, sizeof of_a);
  return CUBLAS_STATUS_SUCCESS;
}

/* Makes a description without its bias pointer; *op stays null if it fails. */
static cublasStatus_t describe(const ovgen_shape *shape, enum form form, cublasLtMatmulDesc_t *op, const char **call) {
  cublasLtMatmulDesc_t made;
  TRY(MatmulDescCreate, &made, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasStatus_t status = set_form(shape, form, made, call);
  if (status == CUBLAS_STATUS_SUCCESS) *op = made;
  else lt.MatmulDescDestroy(made);
  return status;
}

static cublasStatus_t set_pointer(cublasLtMatmulDesc_t op, cublasLtMatmulDescAttributes_t which, uint64_t address) {
  const void *pointer = (const void *)(uintptr_t)address;
  return lt.MatmulDescSetAttribute(op, which, &pointer, sizeof pointer);
}

static uint64_t size_of(int type) { return type == CUDA_R_32F ? 4 : type < CUDA_R_8F_E4M3 ? 2 : 1; }

static int scaled(const ovgen_shape *s) { return size_of(s->of) == 1; }

/* Sets where a bias is, and scales, of a product that has them. */
static cublasStatus_t set_pointers(const ovgen_shape *s, enum form form, cublasLtMatmulDesc_t op, uint64_t bias,
                                   uint64_t scale_a, uint64_t scale_b) {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  if (form == SUMS) return status;
  if (s->bias) status = set_pointer(op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  if (status == CUBLAS_STATUS_SUCCESS && scaled(s))
    status = set_pointer(op, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale_b);
  if (status == CUBLAS_STATUS_SUCCESS && scaled(s))
    status = set_pointer(op, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale_a);
  return status;
}

static cublasStatus_t lay_out(struct product *p, const char **call) {
  const ovgen_shape *s = &p->shape;
  cudaDataType type = (cudaDataType)s->type, of = (cudaDataType)s->of, of_b = (cudaDataType)s->of_b;
  if (s->transposed_a) TRY(MatrixLayoutCreate, &p->a, of, s->m, s->k, (int64_t)s->m);
  else TRY(MatrixLayoutCreate, &p->a, of, s->k, s->m, (int64_t)s->k);
  if (s->transposed) TRY(MatrixLayoutCreate, &p->b, of_b, s->k, s->n, (int64_t)s->k);
  else TRY(MatrixLayoutCreate, &p->b, of_b, s->n, s->k, (int64_t)s->n);
  TRY(MatrixLayoutCreate, &p->c[WHOLE], type, s->n, s->m, (int64_t)s->n);
  TRY(MatrixLayoutCreate, &p->c[SUMS], CUDA_R_32F, s->n, s->m, (int64_t)s->n);
  return CUBLAS_STATUS_SUCCESS;
}

static void free_layouts(struct product *p) {
  if (p->a) lt.MatrixLayoutDestroy(p->a);
  if (p->b) lt.MatrixLayoutDestroy(p->b);
  for (int form = WHOLE; form < FORMS; form++)
    if (p->c[form]) lt.MatrixLayoutDestroy(p->c[form]);
}

/* The alignment that every row start keeps when the first one has 16 bytes, which is
   the most that a kernel asks for; chunks of rows start at such addresses. */
static uint64_t alignment(uint64_t row_bytes) {
  uint64_t lowest = row_bytes & -row_bytes;
  return lowest < 16 ? lowest : 16;
}

static void align(struct product *p) {
  const ovgen_shape *s = &p->shape;
  p->align_a = alignment((s->transposed_a ? s->m : s->k) * size_of(s->of));
  p->align_b = alignment((s->transposed ? s->k : s->n) * size_of(s->of));
  p->align_c = p->align_bias = alignment(s->n * size_of(s->type));
}

/* What is left of the workspace for an algorithm. */
static size_t workspace_of(const struct product *p, enum form form) {
  return form == SUMS ? p->workspace - p->sums : p->workspace;
}

/* Sums stay in fp32: partial sums of a split product may meet only in that type.
   In place they meet in the output's type, which is that of an fp32 product only. */
static cublasStatus_t prefer(struct product *p, enum form form, cublasLtMatmulPreference_t pref, const char **call) {
  uint32_t a = (uint32_t)p->align_b, b = (uint32_t)p->align_a, c = (uint32_t)p->align_c;
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  uint64_t workspace = workspace_of(p, form);
  if (p->shape.type == CUDA_R_32F || form == SUMS) reductions |= CUBLASLT_REDUCTION_SCHEME_INPLACE;
#define PREFER(attribute, value) \
  TRY(MatmulPreferenceSetAttribute, pref, CUBLASLT_MATMUL_PREF_##attribute, &value, sizeof value)
  PREFER(MAX_WORKSPACE_BYTES, workspace);
  PREFER(REDUCTION_SCHEME_MASK, reductions);
  PREFER(MIN_ALIGNMENT_A_BYTES, a);
  PREFER(MIN_ALIGNMENT_B_BYTES, b);
  PREFER(MIN_ALIGNMENT_C_BYTES, c);
  PREFER(MIN_ALIGNMENT_D_BYTES, c);
#undef PREFER
  return CUBLAS_STATUS_SUCCESS;
}

/* Adds what the heuristic chooses of a form. */
static cublasStatus_t ask(struct product *p, enum form form, cublasLtMatmulPreference_t pref, int *choices,
                          const char **call) {
  cublasLtMatmulDesc_t op = atomic_load(&p->spare[form]);
  cublasLtMatmulHeuristicResult_t found[OVGEN_CHOICES];
  int count = 0, before = *choices;
  cublasLtMatrixLayout_t c = p->c[form];
  TRY(MatmulAlgoGetHeuristic, p->handle, op, p->b, p->a, c, c, pref, OVGEN_CHOICES, found, &count);
  for (int i = 0; i < count; i++) {
    if (found[i].state != CUBLAS_STATUS_SUCCESS) continue;
    p->forms[*choices] = form;
    p->choices[(*choices)++] = found[i];
  }
  return *choices > before ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/* Lets an algorithm sum over k in one piece, and says whether the product can run it so. */
static int unsplit(struct product *p, cublasLtMatmulAlgo_t *algo) {
  int32_t pieces = 1;
  uint32_t reduction = 0;
  cublasLtMatmulHeuristicResult_t result = {0};
  return lt.MatmulAlgoConfigSetAttribute(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &pieces, sizeof pieces) == 0 &&
         lt.MatmulAlgoConfigSetAttribute(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &reduction,
                                         sizeof reduction) == 0 &&
         lt.MatmulAlgoCheck(p->handle, atomic_load(&p->spare[WHOLE]), p->b, p->a, p->c[WHOLE], p->c[WHOLE], algo,
                            &result) == 0 &&
         result.state == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= p->workspace;
}

/* Adds what the heuristic chooses for that many rows, unsplit, where the product's own rows can have it. */
static void ask_rows(struct product *p, cublasLtMatmulPreference_t pref, uint64_t rows, int *choices) {
  struct product like = {.handle = p->handle, .shape = p->shape};
  const char *call;
  int found = 0;
  like.shape.m = rows;
  atomic_store(&like.spare[WHOLE], atomic_load(&p->spare[WHOLE]));
  if (lay_out(&like, &call) == CUBLAS_STATUS_SUCCESS &&
      ask(&like, WHOLE, pref, &found, &call) != CUBLAS_STATUS_SUCCESS)
    found = 0;
  free_layouts(&like);
  for (int i = 0; i < found; i++) {
    cublasLtMatmulAlgo_t algo = like.choices[i].algo;
    int known = !unsplit(p, &algo);
    for (int j = 0; j < *choices; j++) known |= !memcmp(&algo, &p->choices[j].algo, sizeof algo);
    if (!known) p->choices[(*choices)++].algo = algo;
  }
}

/* For few rows and columns the heuristic names algorithms that split k; for more rows, others, which serve few too. */
static cublasStatus_t ask_in_order(struct product *p, cublasLtMatmulPreference_t pref, int *choices) {
  *choices = 0;
  ask_rows(p, pref, p->shape.m, choices);
  ask_rows(p, pref, OVGEN_ORDER_ROWS / 2, choices);
  ask_rows(p, pref, OVGEN_ORDER_ROWS, choices);
  return *choices ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

static int forms(const struct product *p) { return p->sums ? FORMS : WHOLE + 1; }

/* All but the choice of an algorithm. */
static cublasStatus_t build(struct product *p, uint64_t bias, const char **call) {
  for (int form = WHOLE; form < forms(p); form++) {
    cublasLtMatmulDesc_t op = NULL;
    cublasStatus_t status = describe(&p->shape, form, &op, call);
    atomic_store(&p->spare[form], op);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    *call = "cublasLtMatmulDescSetAttribute";
    status = set_pointers(&p->shape, form, op, bias + p->align_bias, bias, bias);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return lay_out(p, call);
}

static cublasStatus_t heuristic_of(struct product *p, enum form form, int *choices, const char **call) {
  cublasLtMatmulPreference_t pref = NULL;
  TRY(MatmulPreferenceCreate, &pref);
  cublasStatus_t status = prefer(p, form, pref, call);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = p->shape.in_order ? ask_in_order(p, pref, choices) : ask(p, form, pref, choices, call);
  lt.MatmulPreferenceDestroy(pref);
  return status;
}

static cublasStatus_t heuristic(struct product *p, int *choices, const char **call) {
  const char *ignored;
  *choices = 0;
  cublasStatus_t status = heuristic_of(p, WHOLE, choices, call);
  if (p->sums && heuristic_of(p, SUMS, choices, &ignored) == CUBLAS_STATUS_SUCCESS) return CUBLAS_STATUS_SUCCESS;
  return status;
}

/* The library may refuse an algorithm, or want more workspace for it than there is. */
static cublasStatus_t restore(struct product *p, const void *algorithm, const char **call) {
  cublasLtMatmulHeuristicResult_t result = {0};
  memcpy(&result.algo, algorithm, sizeof result.algo);
  enum form form = ((const char *)algorithm)[sizeof result.algo] ? SUMS : WHOLE;
  if (form >= forms(p)) return CUBLAS_STATUS_NOT_SUPPORTED;
  cublasLtMatmulAlgo_t algo = result.algo;
  cublasLtMatrixLayout_t c = p->c[form];
  TRY(MatmulAlgoCheck, p->handle, atomic_load(&p->spare[form]), p->b, p->a, c, c, &algo, &result);
  if (result.state != CUBLAS_STATUS_SUCCESS || result.workspaceSize > workspace_of(p, form))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  p->choices[0].algo = algo;
  p->forms[0] = form;
  return CUBLAS_STATUS_SUCCESS;
}

/* The bytes that sums take of a product which may leave them: one with a kernel for their scales, if they leave half of
   the workspace to the algorithm. */
static size_t sums_of(const ovgen_shape *s, size_t workspace) {
  size_t bytes = (s->m * s->n * sizeof(float) + 255) & ~(size_t)255;
  int may = s->rescale && s->row_scales && !s->accumulate && !s->in_order;
  return may && bytes <= workspace / 2 ? bytes : 0;
}

/* A product without an algorithm. */
static cublasStatus_t create(uintptr_t handle, const ovgen_shape *shape, uint64_t bias, size_t workspace,
                             struct product **product, const char **call) {
  struct product *p = calloc(1, sizeof *p);
  *call = "calloc";
  if (!p) return CUBLAS_STATUS_ALLOC_FAILED;
  p->handle = (cublasLtHandle_t)handle;
  p->shape = *shape;
  p->workspace = workspace;
  p->sums = sums_of(shape, workspace);
  align(p);
  cublasStatus_t status = build(p, bias, call);
  if (status == CUBLAS_STATUS_SUCCESS) *product = p;
  else ovgen_product_destroy((uintptr_t)p);
  return status;
}

/* Hands the product out, or destroys it. */
static cublasStatus_t finish(struct product *p, cublasStatus_t status, uintptr_t *product) {
  if (status == CUBLAS_STATUS_SUCCESS) *product = (uintptr_t)p;
  else ovgen_product_destroy((uintptr_t)p);
  return status;
}

cublasStatus_t ovgen_product_create(uintptr_t handle, const ovgen_shape *shape, uint64_t bias, size_t workspace,
                                    uintptr_t *product, int *choices, const char **call) {
  struct product *p;
  cublasStatus_t status = create(handle, shape, bias, workspace, &p, call);
  return status == CUBLAS_STATUS_SUCCESS ? finish(p, heuristic(p, choices, call), product) : status;
}

cublasStatus_t ovgen_product_restore(uintptr_t handle, const ovgen_shape *shape, uint64_t bias, size_t workspace,
                                     const void *algorithm, uintptr_t *product, const char **call) {
  struct product *p;
  cublasStatus_t status = create(handle, shape, bias, workspace, &p, call);
  return status == CUBLAS_STATUS_SUCCESS ? finish(p, restore(p, algorithm, call), product) : status;
}

void ovgen_product_algorithm(uintptr_t product, void *algorithm) {
  const struct product *p = (const struct product *)product;
  memcpy(algorithm, &p->choices[p->choice].algo, sizeof p->choices->algo);
  ((char *)algorithm)[sizeof p->choices->algo] = p->forms[p->choice] == SUMS;
}

void ovgen_product_choose(uintptr_t product, int choice) { ((struct product *)product)->choice = choice; }

void ovgen_product_alignment(uintptr_t product, uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *bias) {
  const struct product *p = (const struct product *)product;
  *a = p->align_a, *b = p->align_b, *c = p->align_c, *bias = p->align_bias;
}

void ovgen_product_destroy(uintptr_t product) {
  struct product *p = (struct product *)product;
  for (int form = WHOLE; form < FORMS; form++) {
    cublasLtMatmulDesc_t op = atomic_load(&p->spare[form]);
    if (op) lt.MatmulDescDestroy(op);
  }
  free_layouts(p);
  free(p);
}

/* Whether c, which is written, meets what others of its tiles read. */
static int overlaps(const struct product *p, uint64_t c, uint64_t a, uint64_t b, uint64_t bias, uint64_t scale_a,
                    uint64_t scale_b) {
  const ovgen_shape *s = &p->shape;
  uint64_t size = size_of(s->type), of = size_of(s->of), end = c + s->m * s->n * size;
  uint64_t blocks = s->k / OVGEN_SCALE_BLOCK;
  uint64_t scales_a = s->block_scales ? s->m * blocks : s->row_scales ? s->m : 1;
  uint64_t scales_b = s->block_scales ? s->n / OVGEN_SCALE_BLOCK * blocks : s->row_scales ? s->n : 1;
  return (a < end && c < a + s->m * s->k * of) || (b < end && c < b + s->k * s->n * of) ||
         (s->bias && bias < end && c < bias + s->n * size) ||
         (scaled(s) && scale_a < end && c < scale_a + scales_a * 4) ||
         (scaled(s) && scale_b < end && c < scale_b + scales_b * 4);
}

/* Makes the result of sums. Its parameters are the kernel's struct. */
static int rescale(uintptr_t ctx, const struct product *p, uint64_t c, uint64_t bias, uint64_t scale_a,
                   uint64_t scale_b, uint64_t workspace, uintptr_t stream) {
  enum { THREADS = 128, WIDTH = 8 };
  uint64_t params[6] = {c, workspace, scale_a, scale_b, bias, p->shape.n};
  const uint32_t block[3] = {THREADS, 1, 1};
  const uint64_t blocks = (p->shape.n + THREADS * WIDTH - 1) / (THREADS * WIDTH);
  const uint32_t grid[3] = {(uint32_t)blocks, (uint32_t)p->shape.m, 1};
  CUresult r = ovgen_launch(ctx, p->shape.rescale, grid, block, 0, false, stream, (char *)params);
  return r == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : OVGEN_RESCALE + (int)r;
}

int ovgen_matmul(uintptr_t ctx, uintptr_t product, uint64_t c, uint64_t a, uint64_t b, uint64_t bias,
                 uint64_t scale_a, uint64_t scale_b, uint64_t workspace, uintptr_t stream) {
  static const float one = 1, zero = 0;
  struct product *p = (struct product *)product;
  if (!p->shape.bias) bias = 0;
  else if (!bias) return CUBLAS_STATUS_INVALID_VALUE;
  if (a % p->align_a || b % p->align_b || c % p->align_c || bias % p->align_bias) return OVGEN_MISALIGNED;
  if (scaled(&p->shape) && (!scale_a || !scale_b || scale_a % 16 || scale_b % 16)) return OVGEN_NO_SCALE;
  if (overlaps(p, c, a, b, bias, scale_a, scale_b)) return OVGEN_OVERLAP;
  if (ovgen_enter(ctx) != CUDA_SUCCESS) return OVGEN_NO_CONTEXT;
  const char *call;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  enum form form = p->forms[p->choice];
  void *to = (void *)(uintptr_t)(form == SUMS ? workspace : c);
  void *room = (void *)(uintptr_t)(form == SUMS ? workspace + p->sums : workspace);
  cublasLtMatmulDesc_t op = atomic_exchange(&p->spare[form], NULL);
  if (!op) status = describe(&p->shape, form, &op, &call);
  if (status == CUBLAS_STATUS_SUCCESS) status = set_pointers(&p->shape, form, op, bias, scale_a, scale_b);
  const float *beta = p->shape.accumulate ? &one : &zero;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = lt.Matmul(p->handle, op, &one, (const void *)(uintptr_t)b, p->b, (const void *)(uintptr_t)a, p->a, beta,
                       to, p->c[form], to, p->c[form], &p->choices[p->choice].algo, room, workspace_of(p, form),
                       (cudaStream_t)stream);
  if (op && (op = atomic_exchange(&p->spare[form], op))) lt.MatmulDescDestroy(op);
  if (form == SUMS && status == CUBLAS_STATUS_SUCCESS)
    return rescale(ctx, p, c, bias, scale_a, scale_b, workspace, stream);
  return status;
}
