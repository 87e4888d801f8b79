// What drives kernels on the engine knows them by their declarations: another file has their code, and a compiler makes
// none here, where nobody calls them.
#pragma once
#include "engine.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
namespace {

#include "../device/host.h"
#include "../check/check.cu"

const Kernel none[] = {{}};

}  // namespace
#pragma GCC diagnostic pop

extern "C" const void *check_kernels(const void *);

// Gives the engine to kernels of the driver's own.
extern "C" const void *own_kernels(const void *e)
{
  engine = static_cast<const Engine *>(e);
  return none;
}
