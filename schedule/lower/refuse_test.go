package lower_test

import (
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// tensor is A of [M, K], or another one, with the splits of its axes.
func tensor(name string, axes ...schedule.Axis) schedule.Tensor {
	return schedule.Tensor{Name: name, Axes: axes}
}

type refusalCase struct {
	name string
	s    schedule.Schedule
	want []string
}

var (
	wholeM    = schedule.Dim(schedule.M)
	wholeK    = schedule.Dim(schedule.K)
	wholeN    = schedule.Dim(schedule.N)
	wholeN2   = schedule.Dim(schedule.N2)
	shardedM  = schedule.Dim(schedule.M, schedule.DIDx(schedule.D))
	shardedK  = schedule.Dim(schedule.K, schedule.DIDx(schedule.D))
	shardedN  = schedule.Dim(schedule.N, schedule.DIDx(schedule.D))
	streamedM = schedule.Dim(schedule.M, schedule.Stream(schedule.D))
)

func shiftedM(by int) schedule.Axis {
	return schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: by})
}

func linearOf(tensors ...schedule.Tensor) schedule.Schedule {
	return scheduletest.Of("linear", tensors...)
}

func copyWith(s schedule.Schedule, f func(*schedule.Schedule)) schedule.Schedule {
	s.Tensors = slices.Clone(s.Tensors)
	f(&s)
	return s
}

// balanced spreads tensors in balanced parts.
func balanced(s schedule.Schedule, names ...string) schedule.Schedule {
	for _, t := range s.Tensors {
		if axis, split, _ := t.Sharded(); slices.Contains(names, t.Name) {
			t.Axes[axis].Outer[split] = schedule.Balanced(schedule.D)
		}
	}
	return s
}

// onHosts is a schedule for ranks on several hosts, its first move by a way.
func onHosts(s schedule.Schedule, of string, way schedule.Way) schedule.Schedule {
	s.Mesh, s.Moves = schedule.Hosts(), []schedule.Move{{Of: of, Way: way}}
	return s
}

// keys has a caller's function take all rows of Key, which travels by a way, beside own ones of Q.
func keys(way schedule.Way) schedule.Schedule {
	return schedule.Schedule{Tensors: scheduletest.Tensors("Key[M/D N] Q[M/D N] C[M/D N]"),
		Ops: []schedule.Op{schedule.Copy("AllK", "Key"),
			schedule.CallRows("C", "Attention", "mn,pn->mn", "Q", "AllK")},
		Moves: []schedule.Move{{Of: "Key", Way: way}}}
}

var refusalCases = []refusalCase{
	{"parts of counted rows over hosts", onHosts(catalog.AllGatherV, "A", schedule.Rails{Parts: 2}), []string{
		"Moves[0].Way.Parts: parts of A differ by rows, and parts of these would again (leave it out)"}},
	{"an uneven exchange over hosts", onHosts(catalog.AllToAllV, "A", nil), []string{
		"Mesh: no pass does the all-to-all of counted rows of A over hosts by Rails: hosts exchange what goes to "}},
	{"parts of balanced rows over hosts", onHosts(catalog.AllGatherLinearBalanced, "A", schedule.Rails{Parts: 2}),
		[]string{"Moves[0].Way.Parts: parts of A differ by rows, and parts of these would again (leave it out)"}},
	{"parts of balanced sums over hosts", onHosts(catalog.LinearReduceScatterBalanced, "C", schedule.Rails{Parts: 2}),
		[]string{"Moves[0].Way.Parts: parts of C differ by rows, and parts of these would again (leave it out)"}},
	{"another way over hosts", onHosts(catalog.AllGatherLinear, "A", schedule.Pull{}), []string{
		"Moves[0].Way: no pass does the all-gather over hosts of A by Pull: a rank can't reach the memory of " +
			"another host (use Rails, or leave it out; or leave out Mesh, for ranks of one host)"}},
	{"rails on one host", schedule.Schedule{Tensors: catalog.AllGatherLinear.Tensors, Ops: catalog.AllGatherLinear.Ops,
		Moves: []schedule.Move{{Of: "A", Way: schedule.Rails{}}}}, []string{
		"Moves[0].Way: no pass does the all-gather of A by Rails: ranks of one host have no network between them " +
			"(use Pull, "}},
	{"a broadcast over hosts", onHosts(catalog.Broadcast, "A", nil), []string{
		"Mesh: no pass does the broadcast of A over hosts by Rails: hosts exchange what goes to all ranks, and " +
			"sums (leave the mesh out, for ranks of one host)"}},
	{"parts of rows over hosts, and others of sums", copyWith(catalog.TensorParallelMLP, func(s *schedule.Schedule) {
		s.Mesh, s.Moves = schedule.Hosts(), []schedule.Move{{Of: "A", Way: schedule.Rails{Parts: 3}},
			{Of: "C", Way: schedule.Rails{Parts: 2}}}
	}), []string{"Moves[1].Way.Parts: C leaves in 2 parts, and other rows of its stage are in 3 (write the same for " +
		"both, or leave it out)"}},
	{"a chain over hosts by slots", onHosts(catalog.TensorParallelMLP, "C", schedule.Slots{}), []string{
		"Moves[0].Way: no pass does the reduce-scatter over hosts of C by Slots: a rank can't reach the memory of " +
			"another host (use Rails, "}},
	{"parts of batches over hosts", onHosts(catalog.AllGatherLinearBatches, "A", schedule.Rails{Parts: 2}), []string{
		"Moves[0].Way.Parts: the rows of A come in batches (leave it out)"}},
	{"parts of sums in batches over hosts", onHosts(catalog.TensorParallelMLPBatches, "C", schedule.Rails{Parts: 2}),
		[]string{"Moves[0].Way.Parts: the terms of C are made in batches (leave it out)"}},
	{"batches in steps over hosts", onHosts(catalog.AllGatherLinearCollective8, "A", nil), []string{"Mesh: no pass " +
		"does the all-gather of batches in steps of A over hosts by Rails: a step multiplies a batch of all ranks' "}},
	{"column-parallel, and a whole bias", linearOf(
		tensor("A", shardedM, wholeK), tensor("B", shardedN, wholeK), tensor("Bias", wholeN),
		tensor("C", streamedM, shardedN)), []string{
		"Tensors[2]: Bias is [N], and the operations take it otherwise: C = linear(A, B), bias(Bias) " +
			"(place it [DIDx(D), N/D])"}},
	{"all-reduce with a second product", linearOf(tensor("A", wholeM, shardedK), tensor("B", wholeN, shardedK),
		tensor("B2", wholeN2, wholeK),
		tensor("C", wholeM, wholeN), tensor("C2", wholeM, wholeN2)), []string{
		"Ops[0].In[0]: C sums over A where its parts are, and another operation gathers it (make C by a schedule of " +
			"its own)"}},
	{"constants that disagree", linearOf(tensor("A", shardedM, schedule.Dim("4096")),
		tensor("B", wholeN, schedule.Dim("8192")),
		tensor("C", streamedM, wholeN)), []string{
		"Tensors[1].Axes[1].Extent: extent \"8192\" where A has \"4096\" (write the same in both)"}},
	{"a constant and its symbol", linearOf(tensor("A", shardedM, schedule.Dim("4096")), tensor("B", wholeN, wholeK),
		tensor("C", streamedM, wholeN)), []string{
		"Tensors[1].Axes[1].Extent: extent \"K\" where A has \"4096\" (write the same in both)"}},
	{"C without steps", linearOf(tensor("A", shardedM, wholeK), tensor("B", wholeN, wholeK),
		tensor("C", wholeM, wholeN)), []string{
		"Tensors[2]: C is [M, N], and the operations leave it otherwise: C = linear(A, B) (place " +
			"it [Stream(D), M/D, N])"}},
	{"logits in steps", linearOf(tensor("A", shardedM, wholeK), tensor("B", shardedN, wholeK),
		tensor("C", streamedM, wholeN)), []string{
		"Tensors[2]: C is [Stream(D), M/D, N], and the operations leave it otherwise: C = linear(A, B) (place it " +
			"[Stream(D), M/D, DIDx(D), N/D])"}},
	{"a function of three axes", schedule.Schedule{Ops: []schedule.Op{schedule.Copy("C", "A", schedule.Rotary("T"))},
		Tensors: []schedule.Tensor{
			tensor("A", schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), schedule.Dim(schedule.D), wholeM),
			tensor("C", schedule.Dim(schedule.D), schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), wholeM),
			tensor("T", schedule.Dim(schedule.D), schedule.Dim("64"))}},
		[]string{"Ops[0].Then[0].Is.Of[0].Of[1].Tensor: no kernel reads the rows of T again for each index of the " +
			"first axis (end the operation before rotary, and go on with C behind the plan)"}},
	{"a shift by two", scheduletest.Of("copy", tensor("A", shardedM, wholeN), tensor("C", shiftedM(2), wholeN)),
		[]string{
			"Tensors[1].Axes[0].Outer[0].Shift: a shift by 2 of C: the one that is lowered moves parts on by one " +
				"rank, or back (let the shifts of both differ by 1)"}},
	{"A of a layer shifted", linearOf(tensor("A", shiftedM(1), wholeK), tensor("B", wholeN, wholeK),
		tensor("C", streamedM, wholeN)), []string{
		"Tensors[0].Axes[0].Outer[0].Shift: no pass lowers a linear of parts that are moved on (leave it out; a " +
			"permutation is a Copy)"}},
	{"all-to-all with rows", scheduletest.Of("copy",
		tensor("A", schedule.Dim(schedule.D, schedule.DIDx(schedule.D)),
			schedule.Dim(schedule.D), wholeM, wholeN), tensor("C", wholeM, wholeN)), []string{
		"Tensors[1].Axes: 2 axes where 4 are needed (Ops[0] is \"...->...\")"}},
	{"a bound on the parts of an all-to-all", copyWith(catalog.AllToAllV, func(s *schedule.Schedule) {
		s.Tensors[0].Axes = slices.Clone(s.Tensors[0].Axes)
		s.Tensors[0].Axes[0].Outer = []schedule.Split{{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true,
			Most: schedule.P}}
	}), []string{"Tensors[0].Axes[0].Outer[0].Most: an all-to-all makes room for M elements a rank, whatever its " +
		"parts are (leave it out)"}},
	{"a way of sums for a gather", scheduletest.By(catalog.AllGatherLinear, "A", schedule.Slots{}), []string{
		"Moves[0].Way: no pass does the all-gather of A by Slots: it adds up partial results (use Pull, "}},
	{"tiles of an odd width", scheduletest.By(catalog.AllGatherLinearTiles, "A", schedule.Tiles{Columns: 100}),
		[]string{
			"Moves[0].Way.Columns: a tile has a multiple of 16 columns, from 64 on (use 112, 128 or 224)"}},
	{"wide tiles in turn", scheduletest.By(catalog.AllGatherLinearTiles, "A", schedule.Tiles{Columns: 224}), []string{
		"Moves[0].Way.Columns: one warpgroup has no registers for as many (use at most 192, or set Together)"}},
	{"tiles of fp32", scheduletest.By(catalog.AllGatherLinear, "A", schedule.Tiles{}), []string{
		"Moves[0].Way: tiles are made of bf16 and fp16 (set Types to those, or use schedule.Pull)"}},
	{"tiles of a matmul", copyWith(scheduletest.By(catalog.AllGatherMatmul, "A", schedule.Tiles{}),
		func(s *schedule.Schedule) { s.Types = catalog.AllGatherLinearTiles.Types }), []string{
		"Moves[0].Way: tiles are those of a linear, whose weight has a row for each column of its result, and C is a " +
			"matmul (use schedule.Pull)"}},
	{"clusters for a sum", scheduletest.By(catalog.LinearReduceScatterTiles, "C", schedule.Tiles{Cluster: 2}), []string{
		"Moves[0].Way.Cluster: sums wait for all blocks of the peers, and clusters of blocks may not all run at the " +
			"same time (leave it out)"}},
	{"a sum of tiles of fp32", scheduletest.By(catalog.LinearReduceScatter, "C", schedule.Tiles{}), []string{
		"Moves[0].Way: tiles are made of bf16 and fp16 (set Types to those, or use schedule.Slots)"}},
	{"parts by NCCL in a chain", scheduletest.By(catalog.TensorParallelMLP, "C", schedule.NCCL{Parts: 2}), []string{
		"Moves[0].Way.Parts: parts of the sums C are of rows that do not travel, and A does (leave it out)"}},
	{"tiles for an activation", copyWith(scheduletest.By(catalog.TensorParallelMLP, "A", schedule.Tiles{}),
		func(s *schedule.Schedule) { s.Types = catalog.AllGatherLinearTiles.Types }), []string{
		"Moves[0].Way: the kernel that makes tiles of H applies no gelu (use schedule.Pull, or give it an operation " +
			`of its own: schedule.Copy("H", "H0", ...))`}},
	{"blocks of rows whose sums leave", scheduletest.By(catalog.GatedMLP, "A", schedule.Grouped{}), []string{
		"Moves[0].Way: the sums C leave one rank's rows after the other, and those of A come of several ranks (use " +
			"schedule.Pull)"}},
	{"mistakes in a chain", scheduletest.By(catalog.GatedMLP, "A", schedule.Naive{Copied: true}), []string{
		"Moves[0].Way: a Naive shows the mistakes of one pipeline, and more follows its products here: " +
			"there travel A, C (use schedule.Pull)"}},
	{"mistakes beside own rows", scheduletest.By(schedule.Schedule{
		Tensors: scheduletest.Tensors("A[M/D K] B[N K] B2[N2 K] C[M/D N] C2[M:D N2]"),
		Ops:     []schedule.Op{schedule.Linear("C", "A", "B"), schedule.Linear("C2", "A", "B2")}}, "A",
		schedule.Naive{Copied: true}), []string{"Moves[0].Way: a Naive shows the mistakes of one pipeline, and more " +
		"follows its products here: C is made of own rows (use schedule.Pull)"}},
	{"parts of rows that a chain gathers", scheduletest.By(catalog.GatedMLP, "A", schedule.Pull{Parts: 2}), []string{
		"Moves[0].Way.Parts: the sums C of a stage leave with all rows of a rank (leave it out)"}},
	{"a chain's rows once, on two streams", scheduletest.By(catalog.GatedMLP, "A",
		schedule.Pull{Once: true, Streams: 2}), []string{
		"Moves[0].Way.Streams: one product of all rows has the caller's stream (leave it out, or Once)"}},
	{"batches once", scheduletest.By(catalog.TensorParallelMLPBatches, "A", schedule.Pull{Once: true}), []string{
		"Moves[0].Way.Once: one product takes all rows of A, and batches of its sums leave before the last one comes"}},
	{"streams of a gather before a sum", scheduletest.By(catalog.GatedMLP, "A", schedule.Pull{Streams: 2}), []string{
		"Moves[0].Way.Streams: products share their streams where A and C travel (leave it out)"}},
	{"sums of batches as packets", scheduletest.By(catalog.TensorParallelMLPBatches, "C", schedule.PushShot{}),
		[]string{"Moves[0].Way: no pass does the reduce-scatter of rows of batches of C by PushShot: its " +
			"kernel takes each rank's rows in one piece, and those of batches lie apart"}},
	{"batches as packets", scheduletest.By(catalog.TensorParallelMLPBatches, "A", schedule.PushGather{}), []string{
		"Moves[0].Way: no pass does the all-gather of rows of batches of A by PushGather: its " +
			"kernel takes each rank's rows in one piece, and those of batches lie apart"}},
	{"fp32 of plain data", copyWith(scheduletest.Clone(catalog.MixedMLP), func(s *schedule.Schedule) {
		s.Moves = []schedule.Move{{Of: "X", Way: schedule.PushGather{}}, {Of: "C", Way: schedule.PushShot{Words: true}}}
		s.Ops[2].Then = nil
		s.Tensors = slices.DeleteFunc(s.Tensors, func(t schedule.Tensor) bool { return t.Name == "Bias2" })
	}), []string{"Moves[1].Way.Words: no kernel of plain data keeps the sums of C in fp32 (leave it out)"}},
	{"streams of a bare all-gather", scheduletest.By(catalog.AllGather, "A", schedule.Pull{Streams: 4}), []string{
		"Moves[0].Way.Streams: no product takes a part of A alone (leave it out)"}},
	{"balanced parts that only a call reads", balanced(schedule.Schedule{
		Tensors: scheduletest.Tensors("A[M K/D] R[P/D F] B[N K/D] C[M/D N]"),
		Ops:     []schedule.Op{schedule.Call("G", "F", "mk,pf->mk", "A", "R"), schedule.Linear("C", "G", "B")}}, "R"),
		[]string{"Tensors[1].Axes[0].Outer[0].Balanced: no communication has the parts of R, and no step reads them " +
			"(leave it and Uneven out)"}},
	{"balanced parts that are exchanged", balanced(schedule.Schedule{
		Tensors: scheduletest.Tensors("R[D/D D M] G[D D/D M]"), Ops: []schedule.Op{schedule.Copy("G", "R")}}, "R", "G"),
		[]string{"Tensors[1].Axes[1].Outer[0].Balanced: only rows are in balanced parts, and G has such parts of " +
			"another axis (leave it and Uneven out)"}},
	{"one priority of batches", copyWith(catalog.TensorParallelMLPBatches, func(s *schedule.Schedule) {
		s.Moves = []schedule.Move{{Of: "C", Way: schedule.Slots{Equal: true}}}
	}), []string{"Moves[0].Way.Equal: the products of batches have one priority (leave it out)"}},
	{"a move of a weight", scheduletest.By(catalog.TensorParallelMLP, "B", schedule.Pull{}), []string{
		"Moves[0].Of: B does not travel (move A or C; what travels follows from the placements of A, B, "}},
	{"a move where nothing travels", schedule.Schedule{Ops: []schedule.Op{schedule.Linear("C", "A", "B")},
		Tensors: []schedule.Tensor{{Name: "A", Axes: []schedule.Axis{wholeM, wholeK}},
			{Name: "B", Axes: []schedule.Axis{wholeN, wholeK}}, {Name: "C", Axes: []schedule.Axis{wholeM, wholeN}}},
		Moves: []schedule.Move{{Of: "A"}}}, []string{
		"Moves[0].Of: A does not travel (leave it out: nothing travels"}},
	{"counted rows without a bound, padded", schedule.Schedule{Tensors: scheduletest.Tensors("X[M/D~ K] C[M K]"),
		Ops: []schedule.Op{schedule.Copy("C", "X")}, Moves: []schedule.Move{{Of: "X", Way: schedule.Padded{}}}},
		[]string{"Moves[0].Way: only uneven parts whose most is known can be padded (set Most of the split of X over " +
			"the ranks)"}},
	{"such rows that are made, padded", schedule.Schedule{
		Tensors: scheduletest.Tensors("A[N K] R[M/D~ K] V[K] C[M N]"),
		Ops: []schedule.Op{schedule.Copy("X", "R", schedule.RMSNorm("V")),
			schedule.Linear("C", "X", "A")}, Moves: []schedule.Move{{Of: "X", Way: schedule.Padded{}}}},
		[]string{"Moves[0].Way: only uneven parts whose most is known can be padded (set Most of the split of R over " +
			"the ranks)"}},
	{"other ways for rows that no product takes", keys(schedule.Shot{}), []string{"Moves[0].Way: no pass does the " +
		"all-gather of Key by Shot: it adds up partial results (use Pull, Push, Ring, PushRing, Broadcast, " +
		"GatherShot, PushGather, NCCL, or leave it out; or place AllK otherwise)"}},
	{"other ways beside slots", scheduletest.By(catalog.GatedMLP, "A", schedule.Shot{}), []string{
		"Moves[0].Way: no pass does the all-gather of A by Shot: it adds up partial results (use Pull, Push, Ring, " +
			"PushRing, Broadcast, GatherShot, PushGather, NCCL, or leave it out)"}},
	{"other ways into the caller's memory", scheduletest.By(gatherOut, "A", schedule.PushRing{}), []string{
		"Tensors[4]: PushRing gathers into memory of the plan only (leave it out, or use schedule.Pull, " +
			"schedule.Ring, schedule.GatherShot, schedule.PushGather, schedule.NCCL)"}},
	{"other ways of counted rows without a bound", schedule.Schedule{
		Tensors: scheduletest.Tensors("X[M/D~ K] C[M K]"), Ops: []schedule.Op{schedule.Copy("C", "X")},
		Moves: []schedule.Move{{Of: "X", Way: schedule.Grouped{}}}}, []string{"Moves[0].Way: no pass does the " +
		"all-gather of counted rows of X by Grouped: no product takes some rows while others come (use Pull, Ring, " +
		"or leave it out; or place C otherwise)"}},
	{"other ways where another move is wrong too", copyWith(catalog.GatedMLP, func(s *schedule.Schedule) {
		s.Moves = []schedule.Move{{Of: "A", Way: schedule.Shot{}}, {Of: "C", Way: schedule.Pull{}}}
	}), []string{"Moves[0].Way: no pass does the all-gather of A by Shot: it adds up partial results (use Pull, "}},
	{"a broadcast by pushes", scheduletest.By(catalog.Broadcast, "A", schedule.Push{}), []string{
		"Moves[0].Way: no pass does the broadcast of A by Push: by it every rank sends to each of the others, and "}},
	{"counted rows that NCCL exchanges", scheduletest.By(catalog.AllToAllV, "A", schedule.NCCL{}), []string{
		"Moves[0].Way: no pass does the all-to-all of counted rows of A by NCCL: by choice the interface to the "}},
	{"blocks of rows that no product takes", keys(schedule.Grouped{}), []string{
		"Moves[0].Way: no product is made of Key as its rows come (use schedule.Pull)"}},
	{"tiles of rows that no product takes", keys(schedule.Tiles{}), []string{
		"Moves[0].Way: no product is made of Key as its rows come (use schedule.Pull)"}},
	{"mistakes with rows that no product takes", keys(schedule.Naive{Copied: true}), []string{
		"Moves[0].Way: no product is made of Key as its rows come (use schedule.Pull)"}},
	{"one kernel for a ring's step", scheduletest.By(catalog.AllGatherLinear, "A",
		schedule.Ring{By: schedule.OneKernel}), []string{
		`Moves[0].Way.By: unknown choice "one kernel" ` +
			`(use one of ["copy engine" "kernel copies" "kernel signals" "kernels"])`}},
}

// A schedule that can't be lowered is refused at the field that is to blame, in words that
// say what to do.
func TestWordsOfRefusals(t *testing.T) {
	for _, test := range refusalCases {
		t.Run(test.name, test.run)
	}
}

func (test refusalCase) run(t *testing.T) {
	_, err := lower.Lower("X", test.s)
	fields := schedule.FieldErrors(err)
	if len(fields) != len(test.want) {
		t.Fatalf("got %v, want %q", err, test.want)
	}
	for i, e := range fields {
		if !strings.HasPrefix(e.Error(), test.want[i]) {
			t.Errorf("got  %s\nwant %s", e, test.want[i])
		}
	}
}

// A way that is left open is the fastest known one for the placements.
func TestDefaultsFollowPlacements(t *testing.T) {
	for _, test := range []struct {
		name string
		s    schedule.Schedule
		want []schedule.Move
	}{
		{"a gather", catalog.AllGatherLinear, []schedule.Move{{Of: "A", Way: schedule.Pull{}}}},
		{"chunks of a gather", catalog.AllGatherLinearCollective8,
			[]schedule.Move{{Of: "A", Way: schedule.Collective{}}}},
		{"partial results", catalog.LinearReduceScatterOneShot, []schedule.Move{{Of: "C", Way: schedule.Slots{}}}},
		{"a sum for all", catalog.AllReduceTwoShot, []schedule.Move{{Of: "C", Way: schedule.TwoShot{}}}},
		{"a sum of uneven parts", catalog.ReduceScatterV, []schedule.Move{{Of: "C", Way: schedule.Shot{}}}},
		{"what rank 0 has", catalog.Broadcast, []schedule.Move{{Of: "A", Way: schedule.Pull{}}}},
		{"batches of two layers", catalog.TensorParallelMLPBatches,
			[]schedule.Move{{Of: "A", Way: schedule.Pull{}}, {Of: "C", Way: schedule.Slots{}}}},
	} {
		test.s.Moves = nil
		got, err := lower.Lower("X", test.s)
		if err != nil || !slices.Equal(got.Schedule.Moves, test.want) {
			t.Errorf("%s: %v, %v, want %v", test.name, got, err, test.want)
		}
	}
}

// TestOddPlacementsAreRefused: what no operation makes so, and what a call names too few axes of, is refused.
func TestOddPlacementsAreRefused(t *testing.T) {
	summed := scheduletest.Tensors("A[M K/D] B[N K] C[M/D N]")
	summed[2].Axes[1].Outer = []schedule.Split{schedule.Stream(schedule.D)}
	matrix := scheduletest.Tensors("A[M K] W[N/D K] Wo[K N/D] C[M/D K]")
	index := schedule.Call("P", "Own", "abc->abc", "Q")
	for path, s := range map[string]schedule.Schedule{
		"Tensors[1]": {Tensors: summed, Ops: []schedule.Op{schedule.Linear("C", "A", "B")}},
		"Ops[2].In[0]": {Tensors: matrix, Ops: []schedule.Op{schedule.Linear("Q", "A", "W"), index,
			schedule.Call("O", "Other", "mn->mn", "P"), schedule.Linear("C", "O", "Wo")}},
	} {
		_, err := lower.Lower("X", s)
		list := schedule.FieldErrors(err)
		if len(list) == 0 || list[0].Path != path {
			t.Errorf("%s: got %v", path, err)
		}
	}
}
