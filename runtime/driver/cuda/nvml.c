//go:build linux && cgo

#include "nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* As nvml.h declares them. */
typedef struct device *nvmlDevice_t;
typedef struct {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
} nvmlPciInfo_t;
enum { remote_gpu = 0, remote_switch = 2 };
enum { most_links = 64 }; /* a device has 18 */

static struct {
  int (*init)(void);
  int (*by_uuid)(const char *, nvmlDevice_t *);
  int (*pci)(nvmlDevice_t, nvmlPciInfo_t *);
  int (*state)(nvmlDevice_t, unsigned, int *);
  int (*remote_type)(nvmlDevice_t, unsigned, int *);
  int (*remote_pci)(nvmlDevice_t, unsigned, nvmlPciInfo_t *);
} nvml;

static char failure[256]; /* to load it; empty: it is loaded */

static void load(void) {
  static const struct {
    void *to;
    const char *name;
  } functions[] = {
      {&nvml.init, "nvmlInit_v2"},
      {&nvml.by_uuid, "nvmlDeviceGetHandleByUUID"},
      {&nvml.pci, "nvmlDeviceGetPciInfo_v3"},
      {&nvml.state, "nvmlDeviceGetNvLinkState"},
      {&nvml.remote_type, "nvmlDeviceGetNvLinkRemoteDeviceType"},
      {&nvml.remote_pci, "nvmlDeviceGetNvLinkRemotePciInfo_v2"},
  };
  void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(failure, sizeof failure, "%s", dlerror());
    return;
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *function = dlsym(library, functions[i].name);
    if (!function) {
      snprintf(failure, sizeof failure, "libnvidia-ml.so.1 has no %s", functions[i].name);
      return;
    }
    memcpy(functions[i].to, &function, sizeof function);
  }
  int r = nvml.init();
  if (r != 0) snprintf(failure, sizeof failure, "nvmlInit_v2 fails with %d", r);
}

static int find(const unsigned char u[16], nvmlDevice_t *device) {
  char text[48];
  snprintf(text, sizeof text, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
           u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
  return nvml.by_uuid(text, device);
}

int ovgen_nvlinks(const unsigned char from[16], const unsigned char to[16], int *direct, int *switches, char *why,
                  size_t size) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  if (*failure) {
    snprintf(why, size, "%s", failure);
    return 1;
  }
  nvmlDevice_t one, other;
  nvmlPciInfo_t there, end;
  int r = find(from, &one);
  if (r == 0) r = find(to, &other);
  if (r == 0) r = nvml.pci(other, &there);
  if (r != 0) {
    snprintf(why, size, "NVML does not know the devices (%d)", r);
    return 1;
  }
  *direct = *switches = 0;
  for (unsigned link = 0; link < most_links; link++) {
    int up, type;
    if (nvml.state(one, link, &up) != 0) break; /* the device has no more */
    if (!up) continue;
    r = nvml.remote_type(one, link, &type);
    if (r == 0 && type == remote_gpu) r = nvml.remote_pci(one, link, &end);
    if (r != 0) {
      snprintf(why, size, "NVML does not say where connection %u ends (%d)", link, r);
      return 1;
    }
    if (type == remote_switch) {
      ++*switches;
    } else if (type == remote_gpu && end.domain == there.domain && end.bus == there.bus && end.device == there.device) {
      ++*direct;
    }
  }
  return 0;
}
