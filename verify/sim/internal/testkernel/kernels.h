#include "../../engine.h"

/* The table that a driver.Code names. */
const struct ovgen_kernel *testkernel_kernels(const struct ovgen_engine *engine);
