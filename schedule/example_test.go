package schedule_test

import (
	"fmt"

	s "ovgen/schedule"
)

// A linear layer whose input is sharded by rows and whose output every rank wants whole,
// made a shard's rows at a time.
func Example() {
	layer := s.Schedule{
		Op: s.Linear,
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
		},
	}
	fmt.Println("valid:", layer.Validate() == nil)
	for _, t := range layer.Tensors {
		fmt.Println(t.Name, t)
	}
	filled := layer.WithDefaults()
	fmt.Printf("%s, order %s, protocol %s, copies by %s\n", filled.Pipeline.Kind, filled.Pipeline.Order, filled.Pipeline.Protocol, filled.Transport.Copy)
	// Output:
	// valid: true
	// A [DIDx(D), M/D, K]
	// B [N, K]
	// C [Stream(D), M/D, N]
	// point-to-point, order shift, protocol get, copies by copy engine
}

// Validate says everything that is wrong, each with its field.
func ExampleSchedule_Validate() {
	layer := s.Schedule{
		Op: s.Matmul,
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx("4")), s.Dim(s.K)}},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		},
		Pipeline: s.Pipeline{Parts: 65},
	}
	for _, e := range s.FieldErrors(layer.Validate()) {
		fmt.Println(e)
	}
	// Output:
	// Tensors[0].Axes[0].Outer[0].Count: an axis is sharded over the whole mesh D, not "4" (use schedule.DIDx(schedule.D))
	// Tensors[1].Axes[0].Extent: extent "N" does not fit B of a matmul (use K or a constant)
	// Tensors[1].Axes[1].Extent: extent "K" does not fit B of a matmul (use N or a constant)
	// Pipeline.Parts: a shard in 65 parts (use 1 to 64, or zero for one)
}

// Placements are written as papers write them.
func ExampleTensor_String() {
	chunks := s.Split{Kind: s.Plain, Count: "2"}
	fmt.Println(s.Tensor{Name: "A", Axes: []s.Axis{s.Dim(s.M, chunks, s.DIDx(s.D)), s.Dim(s.K)}})
	fmt.Println(s.Tensor{Name: "A", Axes: []s.Axis{{Extent: s.M, Outer: []s.Split{{Kind: s.DeviceX, Count: s.D, Uneven: true}}}, s.Dim(s.N)}})
	// Output:
	// [2, DIDx(D), M/(2*D), K]
	// [DIDx(D, uneven), M/D, N]
}
