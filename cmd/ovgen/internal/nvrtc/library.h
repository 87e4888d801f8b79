// The functions of NVRTC that are used, behind dlopen.
#ifndef OVGEN_NVRTC_LIBRARY_H
#define OVGEN_NVRTC_LIBRARY_H

#include <stddef.h>

typedef struct ovgen_nvrtc ovgen_nvrtc;

// Opens the library; NULL with a message in why (of why_bytes) if that fails.
ovgen_nvrtc *ovgen_nvrtc_open(const char *path, char *why, size_t why_bytes);

// The compiler's version.
int ovgen_nvrtc_version(ovgen_nvrtc *n, int *major, int *minor);

// Compiles a program: *ptx and *log are allocated by malloc and may be NULL. Returns
// an nvrtcResult, 6 (NVRTC_ERROR_COMPILATION) when the source is wrong.
int ovgen_nvrtc_compile(ovgen_nvrtc *n, const char *name, const char *source, int headers, const char **header_sources,
                        const char **header_names, int options, const char **option_texts, char **ptx, char **log);

// The name of an nvrtcResult.
const char *ovgen_nvrtc_error(ovgen_nvrtc *n, int result);

#endif
