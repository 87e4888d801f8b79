// Package attention has the test of a kernel that a schedule calls: attention.cu of the catalogue, in the half of a
// layer that RotaryAttention is. ovgen checks that such a kernel stays within its tensors and is at the right place at
// the right time; what it computes is held here against float64, in the simulator and, where OVGEN_GPUS says how many,
// on GPUs.
package attention
