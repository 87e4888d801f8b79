/* NVML, which knows NVLink's connections. It is optional: without it, or where it fails, nothing is known of them. */
#ifndef OVGEN_NVML_H
#define OVGEN_NVML_H

#include <stddef.h>

/* Counts the connections of the device with UUID from that are up: those to the device with UUID to, and those to a
   switch. Returns 0, or 1 with the reason in why. */
int ovgen_nvlinks(const unsigned char from[16], const unsigned char to[16], int *direct, int *switches, char *why,
                  size_t size);

#endif
