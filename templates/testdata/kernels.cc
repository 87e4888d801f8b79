// The kernels of a test, as they are in the .cu, in a table by name. A header that is included before has what stands
// for the device. The right kernels and a mutant's are in spaces of their own.
#include "list.h"
#include "table.h"

#ifndef SPACE
#define SPACE right
#endif

#undef INFINITY  // the host's; the device has its own

namespace SPACE {

#include "../check/check.cu"

template <typename Params, void (*kernel)(Params)>
void thread(const void *params) { kernel(*static_cast<const Params *>(params)); }

extern const Entry table[] = {
#define KERNEL(name, params) {#name, thread<struct params, name>},
    KERNELS(KERNEL)
    {},
};

}  // namespace SPACE
