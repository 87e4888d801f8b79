package schedule_test

import (
	"fmt"

	s "ovgen/schedule"
)

// A linear layer whose input is sharded by rows and whose output every rank wants whole,
// made a shard's rows at a time.
func Example() {
	layer := s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
		},
		Ops: []s.Op{s.Linear("C", "A", "B")},
	}
	fmt.Println("valid:", layer.Validate() == nil)
	for _, t := range layer.Tensors {
		fmt.Println(t.Name, t)
	}
	layer.Moves = []s.Move{{Of: "A", Way: s.Pull{Parts: 2}}}
	for _, m := range layer.Moves {
		for _, o := range s.Options(m.Way) {
			fmt.Printf("%s by %s: %s %s\n", m.Of, s.WayName(m.Way), o.Field, o.Value)
		}
	}
	// Output:
	// valid: true
	// A [DIDx(D), M/D, K]
	// B [N, K]
	// C [Stream(D), M/D, N]
	// A by Pull: Parts 2
	// A by Pull: Streams one for each step
	// A by Pull: WithStep no
	// A by Pull: Once no
	// A by Pull: By copy engine
}

// Validate says everything that is wrong, each with its field.
func ExampleSchedule_Validate() {
	layer := s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx("4")), s.Dim(s.K)}},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		},
		Ops:   []s.Op{s.Matmul("C", "A", "B")},
		Moves: []s.Move{{Of: "A", Way: s.Pull{Parts: 65}}},
	}
	for _, e := range s.FieldErrors(layer.Validate()) {
		fmt.Println(e)
	}
	// Output:
	// Tensors[0].Axes[0].Outer[0].Count: an axis is sharded over the mesh D, not "4" (use schedule.DIDx(schedule.D))
	// Tensors[1].Axes[0].Extent: extent "N" where A has "K" (write the same in both)
	// Tensors[2].Axes[1].Extent: extent "N" where B has "K" (write the same in both)
	// Moves[0].Way.Parts: Parts is 65 (use 1 to 64, or leave it out)
}

// Placements are written as papers write them.
func ExampleTensor_String() {
	chunks := s.Split{Kind: s.Plain, Count: "2"}
	fmt.Println(s.Tensor{Name: "A", Axes: []s.Axis{s.Dim(s.M, chunks, s.DIDx(s.D)), s.Dim(s.K)}})
	fmt.Println(s.Tensor{Name: "A",
		Axes: []s.Axis{{Extent: s.M, Outer: []s.Split{{Kind: s.DeviceX, Count: s.D, Uneven: true}}}, s.Dim(s.N)}})
	// Output:
	// [2, DIDx(D), M/(2*D), K]
	// [DIDx(D, uneven), M/D, N]
}
