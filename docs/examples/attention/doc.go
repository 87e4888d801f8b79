// Package attention tests a kernel that a schedule calls: attention.cu of the catalogue, in RotaryAttention, which is
// half of a layer. ovgen checks that such a kernel stays within its tensors and runs at the right place and time. This
// test holds its results against float64, in the simulator and, where OVGEN_GPUS is a number of GPUs, on them.
package attention
