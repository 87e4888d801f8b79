#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *program;

struct ovgen_nvrtc {
  int (*version)(int *, int *);
  const char *(*error)(int);
  int (*create)(program *, const char *, const char *, int, const char *const *, const char *const *);
  int (*destroy)(program *);
  int (*compile)(program, int, const char *const *);
  int (*ptx_size)(program, size_t *);
  int (*ptx)(program, char *);
  int (*log_size)(program, size_t *);
  int (*log)(program, char *);
};

static int find(void *library, const char *name, void *function, char *why, size_t why_bytes)
{
  *(void **)function = dlsym(library, name);
  if (*(void **)function == NULL) {
    snprintf(why, why_bytes, "it has no %s", name);
    return 0;
  }
  return 1;
}

ovgen_nvrtc *ovgen_nvrtc_open(const char *path, char *why, size_t why_bytes)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(why, why_bytes, "%s", dlerror());
    return NULL;
  }
  ovgen_nvrtc *n = calloc(1, sizeof *n);
  if (n != NULL && find(library, "nvrtcVersion", &n->version, why, why_bytes) &&
      find(library, "nvrtcGetErrorString", &n->error, why, why_bytes) &&
      find(library, "nvrtcCreateProgram", &n->create, why, why_bytes) &&
      find(library, "nvrtcDestroyProgram", &n->destroy, why, why_bytes) &&
      find(library, "nvrtcCompileProgram", &n->compile, why, why_bytes) &&
      find(library, "nvrtcGetPTXSize", &n->ptx_size, why, why_bytes) &&
      find(library, "nvrtcGetPTX", &n->ptx, why, why_bytes) &&
      find(library, "nvrtcGetProgramLogSize", &n->log_size, why, why_bytes) &&
      find(library, "nvrtcGetProgramLog", &n->log, why, why_bytes)) {
    return n;  // the library stays open for the life of the process
  }
  free(n);
  dlclose(library);
  return NULL;
}

int ovgen_nvrtc_version(ovgen_nvrtc *n, int *major, int *minor) { return n->version(major, minor); }

const char *ovgen_nvrtc_error(ovgen_nvrtc *n, int result) { return n->error(result); }

static int text(program p, int (*size)(program, size_t *), int (*get)(program, char *), char **out)
{
  size_t bytes = 0;
  int result = size(p, &bytes);
  if (result != 0) {
    return result;
  }
  *out = calloc(bytes + 1, 1);
  return *out == NULL ? 1 : get(p, *out);
}

int ovgen_nvrtc_compile(ovgen_nvrtc *n, const char *name, const char *source, int headers, const char **header_sources,
                        const char **header_names, int options, const char **option_texts, char **ptx, char **log)
{
  program p = NULL;
  *ptx = NULL;
  *log = NULL;
  int result = n->create(&p, source, name, headers, header_sources, header_names);
  if (result != 0) {
    return result;
  }
  result = n->compile(p, options, option_texts);
  text(p, n->log_size, n->log, log);
  if (result == 0) {
    result = text(p, n->ptx_size, n->ptx, ptx);
  }
  n->destroy(&p);
  return result;
}
