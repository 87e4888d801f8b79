package harness

import (
	"fmt"

	"ovgen/runtime/driver"
)

// String is "m,k,n".
func (s Shape) String() string { return fmt.Sprintf("%d,%d,%d", s.M, s.K, s.N) }

// bytes of that many elements.
func (s Shape) bytes(elements int) int64 { return int64(elements) * s.Type.Size() }

// shapesOf are the shapes to run with a type: those asked for, or the defaults.
func (o *options) shapesOf(t driver.Type, onGPU bool) []Shape {
	list := o.shapes
	if len(list) == 0 && o.command == "bench" {
		list = benchShapes(o.ranks, onGPU)
	} else if len(list) == 0 {
		list = verifyShapes(t, o.ranks, onGPU)
	}
	typed := make([]Shape, len(list))
	for i, s := range list {
		s.Type = t
		typed[i] = s
	}
	return typed
}

// verifyShapes are a plain one and one whose rows a rank are no multiple of 8,
// where the type allows with odd K and N too; GPUs get one that fills them.
func verifyShapes(t driver.Type, ranks int, onGPU bool) []Shape {
	odd := Shape{M: 13 * ranks, K: 72, N: 40}
	if t == driver.FP32 {
		odd.K, odd.N = 67, 35
	}
	list := []Shape{{M: 16 * ranks, K: 64, N: 48}, odd}
	if onGPU {
		list = append(list, Shape{M: 500 * ranks, K: 4096, N: 3584})
	}
	return list
}

func benchShapes(ranks int, onGPU bool) []Shape {
	if !onGPU {
		return []Shape{{M: 64 * ranks, K: 256, N: 256}}
	}
	return []Shape{
		{M: 32768, K: 16384, N: 8192}, {M: 16384, K: 8192, N: 8192}, {M: 8192, K: 8192, N: 8192}, {M: 4096, K: 8192, N: 7168},
		{M: 2048, K: 8192, N: 3584}, {M: 1024, K: 4096, N: 3584}, {M: 512, K: 4096, N: 3584},
	}
}

// staging is what the plans of this command line need of the arena at most.
func (o *options) staging(onGPU bool) (bytes int64) {
	for _, p := range o.programs {
		for _, t := range o.typesOf(&p) {
			for _, s := range o.shapesOf(t, onGPU) {
				bytes = max(bytes, s.bytes(s.M*s.K))
			}
		}
	}
	return bytes
}
