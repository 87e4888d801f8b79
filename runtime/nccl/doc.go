// Package nccl is NVIDIA's collectives library: libnccl.so.2, 2.19 or newer, without its header
// and opened when the first plan needs it. A program that imports the package gives it to the
// driver of GPUs; packages generated from a schedule that names NCCL do. OVGEN_NCCL is the path
// of the library, as of the one in a Python wheel; without it the system's is taken.
package nccl
