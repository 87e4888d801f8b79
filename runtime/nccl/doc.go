// Package nccl is NVIDIA's collectives library: libnccl.so.2, 2.19 or newer. It needs no header, and opens the library
// when the first plan needs it. A program that imports the package gives NCCL to the driver of GPUs; packages generated
// from a schedule that names NCCL import it. OVGEN_NCCL is the path of the library, such as the library in a Python
// wheel; without it the package opens the system's library.
package nccl
