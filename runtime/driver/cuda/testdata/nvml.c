/* A fake libnvidia-ml.so.1. The devices have the UUIDs of the fake libcuda's: bytes of 1, 2 and 3. Of device n's
   connections, 0 and 1 end at device 3 - n, 2 is down, and 3 ends at a switch, or where FAKE_NVML is set at what
   it can't tell. */
#include <stdlib.h>
#include <string.h>

typedef struct {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
} pci_info;

int nvmlInit_v2(void) { return getenv("FAKE_NVML_INIT") ? atoi(getenv("FAKE_NVML_INIT")) : 0; }

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  static const char *known[] = {"GPU-01010101-0101-0101-0101-010101010101", "GPU-02020202-0202-0202-0202-020202020202"};
  for (long i = 0; i < 2; i++)
    if (strcmp(uuid, known[i]) == 0) return *device = (void *)(i + 1), 0;
  return 6;
}

static int place(long device, pci_info *p) {
  memset(p, 0, sizeof *p);
  p->bus = (unsigned)device;
  return 0;
}

int nvmlDeviceGetPciInfo_v3(void *device, pci_info *p) { return place((long)device, p); }

int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *up) {
  (void)device;
  *up = link != 2;
  return link < 4 ? 0 : 2;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type) {
  (void)device;
  *type = link == 3 ? 2 : 0;
  return getenv("FAKE_NVML") && link == 3 ? 3 : 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, pci_info *p) {
  (void)link;
  return place(3 - (long)device, p);
}
