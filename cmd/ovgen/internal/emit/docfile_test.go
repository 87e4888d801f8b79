package emit

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
)

// decoding is two sums for all ranks, each by one kernel.
func decoding() schedule.Schedule {
	m, n := schedule.Dim(schedule.M), schedule.Dim(schedule.N)
	k, f := schedule.Dim(schedule.K, schedule.DIDx(schedule.D)), schedule.Dim(schedule.F, schedule.DIDx(schedule.D))
	return schedule.Schedule{
		Tensors: []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{m, k}},
			{Name: "B", Axes: []schedule.Axis{n, k}},
			{Name: "Up", Axes: []schedule.Axis{f, n}},
			{Name: "Down", Axes: []schedule.Axis{n, f}},
			{Name: "X", Axes: []schedule.Axis{m, n}},
			{Name: "C", Axes: []schedule.Axis{m, n}},
		},
		Ops: []schedule.Op{schedule.Linear("X", "A", "B"), schedule.Linear("H", "X", "Up"),
			schedule.Linear("C", "H", "Down", schedule.Add("X"))},
		Moves: []schedule.Move{{Of: "X", Way: schedule.Shot{}},
			{Of: "C", Way: schedule.Shot{Signals: schedule.MemOps}}},
	}
}

// A package's doc says what carries the bytes and the signals of each communication.
func TestCarriers(t *testing.T) {
	block := func(moves ...schedule.Move) schedule.Schedule {
		s := catalog.BlockBehindAttention
		s.Moves = moves
		return s
	}
	const engine = "Copies between ranks go by the copy engine and signals by stream memory operations"
	const code = ". Sums are made by kernels. The kernels are in x.cu."
	sums := schedule.Move{Of: "R", Way: schedule.Shot{}}
	for _, c := range []struct {
		name string
		s    schedule.Schedule
		want string
	}{
		{"a gather", catalog.AllGatherLinear, engine + ": there is no device code in this package."},
		{"one shot", catalog.AllReduceOneShot, "No rank copies from or to another. Signals go by kernels" + code},
		{"one kernel", catalog.AllGatherOneShot,
			"Copies between ranks go by kernels and signals by kernels. The kernels are in x.cu."},
		{"NCCL and one kernel", schedule.Schedule{Tensors: catalog.LlamaLayer.Tensors, Ops: catalog.LlamaLayer.Ops,
			Moves: []schedule.Move{{Of: "X", Way: schedule.NCCL{}}, {Of: "R", Way: schedule.NCCL{}}}},
			engine + ". NCCL, which is loaded when a plan is made, moves X, R" + code},
		{"NCCL", catalog.AllGatherLinearNCCL, "NCCL, which is loaded when a plan is made, does all that ranks do " +
			"together: there is no device code in this package."},
		{"nothing that travels", schedule.Schedule{Tensors: scheduletest.Tensors("A[M K] B[N/D K] C[M N/D]"),
			Ops: []schedule.Op{schedule.Linear("C", "A", "B")}},
			"Nothing travels, and no rank waits for another: there is no device code in this package."},
		{"a chain", block(), engine + code},
		{"a chain of two carriers", block(schedule.Move{Of: "C", Way: schedule.Slots{By: schedule.Kernels}}),
			engine + ", those of C by kernels and signals by kernels" + code},
		{"a chain with copies and a shot", block(sums), engine + ". Signals of R go by kernels" + code},
		{"a chain of shots", decoding(), "No rank copies from or to another. Signals of X go by kernels. " +
			"Signals of C go by stream memory operations" + code},
	} {
		u, err := newUnit(program(t, "X", c.s), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := u.carriers(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
