// Package nvrtc compiles CUDA C++ to PTX with NVIDIA's run-time compiler, which needs
// neither a toolkit nor a GPU nor a host compiler, and asks ptxas which registers the
// kernels use. Both are optional and come as wheels; "make toolchain" fetches the pinned
// ones into .toolchain, a folder that git ignores, with
//
//	python3 -m pip install --quiet --no-deps --target .toolchain \
//		nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-nvcc-cu12==12.4.131
//
// Checked-in PTX comes only from the pinned compiler, since its bytes are compared. A user may generate with any other
// NVRTC: the stamp of each PTX names the version that made it.
package nvrtc
