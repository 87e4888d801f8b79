package lower_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

type refusedCase struct {
	name  string
	s     schedule.Schedule
	paths []string
}

func gatherWith(f func(*schedule.Schedule)) schedule.Schedule {
	s := catalog.AllGatherLinear
	s.Tensors = append([]schedule.Tensor{}, s.Tensors...)
	f(&s)
	return s
}

func dims(axes ...schedule.Axis) []schedule.Axis { return axes }

func gatherBy(of string, w schedule.Way) schedule.Schedule {
	return scheduletest.By(catalog.AllGatherLinear, of, w)
}

var gatherOut = scheduletest.Of("linear", append(slices.Clone(catalog.AllGatherLinear.Tensors),
	schedule.Tensor{Name: "Gathered", Axes: dims(schedule.Dim(schedule.M, schedule.Stream(schedule.D)),
		schedule.Dim(schedule.K))})...)

var refusedCases = []refusedCase{
	{"a way of sums", gatherBy("A", schedule.Shot{}), []string{"Moves[0].Way"}},
	{"a way of C", gatherBy("C", schedule.Pull{}), []string{"Moves[0].Of"}},
	{"one kernel for signals in the step", gatherBy("A", schedule.Naive{SignalsInStep: true, By: schedule.OneKernel}),
		[]string{"Moves[0].Way.By"}},
	{"one kernel for a step of a ring", gatherBy("A", schedule.Ring{By: schedule.OneKernel}),
		[]string{"Moves[0].Way.By"}},
	{"one kernel for a part", gatherBy("A", schedule.Pull{Parts: 2, By: schedule.OneKernel}),
		[]string{"Moves[0].Way.By"}},
	{"no mistake", gatherBy("A", schedule.Naive{Streams: 2}), []string{"Moves[0].Way"}},
	{"gathered by pushes", scheduletest.By(gatherOut, "A", schedule.Push{}), []string{"Tensors[4]"}},
	{"gathered in parts", scheduletest.By(gatherOut, "A", schedule.Pull{Parts: 2}), nil},
	{"chunks of another number", func() schedule.Schedule {
		s := scheduletest.Clone(catalog.AllGatherLinearCollective8)
		s.Tensors[0].Axes[0].Outer[0].Count = "4"
		return s
	}(), []string{"Tensors[0].Axes[0].Outer[0].Count"}},
	{"balanced parts in parts", scheduletest.By(catalog.AllGatherLinearBalanced, "A", schedule.Pull{Parts: 2}),
		[]string{"Moves[0].Way.Parts"}},
	{"balanced parts by kernels", scheduletest.By(catalog.AllGatherLinearBalanced, "A",
		schedule.Pull{By: schedule.Kernels, Streams: 2, WithStep: true}), nil},
	{"once in parts", gatherBy("A", schedule.Pull{Once: true, Parts: 2}), []string{"Moves[0].Way.Parts"}},
	{"once on two streams", gatherBy("A", schedule.Pull{Once: true, Streams: 2}), []string{"Moves[0].Way.Streams"}},
	{"once with the step", gatherBy("A", schedule.Pull{Once: true, WithStep: true}), []string{"Moves[0].Way.WithStep"}},
	{"once into the caller's memory", scheduletest.By(gatherOut, "A", schedule.Pull{Once: true}), nil},
	{"balanced parts of several ranks", scheduletest.By(catalog.AllGatherLinearBalanced, "A", schedule.Grouped{}),
		[]string{"Moves[0].Way"}},
	{"padded even parts", scheduletest.By(catalog.AllGather, "A", schedule.Padded{}), []string{"Moves[0].Way"}},
	{"collective", gatherBy("A", schedule.Collective{}), []string{"Moves[0].Way"}},
	{"one kernel for the sums of all ranks", scheduletest.By(catalog.LinearAllReduce, "C",
		schedule.Slots{By: schedule.OneKernel}),
		[]string{"Moves[0].Way.By"}},
	{"GELU of a single layer", gatherWith(func(s *schedule.Schedule) {
		s.Ops = []schedule.Op{schedule.Linear("C", "A", "B", schedule.Bias("Bias"), schedule.GELU())}
	}), nil},
	{"a product of a tensor with itself", gatherWith(func(s *schedule.Schedule) {
		s.Tensors = []schedule.Tensor{s.Tensors[0],
			{Name: "C", Axes: dims(schedule.Dim(schedule.M), schedule.Dim(schedule.M))}}
		s.Ops = []schedule.Op{schedule.Linear("C", "A", "A")}
	}), []string{"Ops[0].In[1]"}},
	{"three operations in a row", gatherWith(func(s *schedule.Schedule) {
		s.Ops = []schedule.Op{schedule.Linear("H", "A", "B"), schedule.Copy("G", "H"),
			schedule.Linear("C", "G", "Bias")}
		s.Tensors[2].Axes = dims(schedule.Dim(schedule.N), schedule.Dim(schedule.N))
	}), []string{"Ops[1]"}},
	{"one shot in place", inPlace(catalog.AllReduceOneShot, 0, "C"), []string{"Tensors[0].Within"}},
	{"all-to-all in place", inPlace(catalog.AllToAll, 1, "A"), []string{"Tensors[1].Within"}},
	{"a product's operand in place", inPlace(catalog.AllGatherGateUp, 0, "Gathered"), nil},
	{"an operand in place by one kernel", scheduletest.By(inPlace(catalog.AllGatherGateUp, 0, "Gathered"), "A",
		schedule.GatherShot{}), []string{"Tensors[0].Within"}},
	{"no such tensor", inPlace(catalog.AllGather, 0, "D"), []string{"Tensors[0].Within"}},
	{"invalid", gatherWith(func(s *schedule.Schedule) { s.Ops = nil }), []string{"Ops"}},
	{"A whole", gatherWith(func(s *schedule.Schedule) {
		s.Tensors[0].Axes = dims(schedule.Dim(schedule.M), schedule.Dim(schedule.K))
	}), []string{"Tensors[0]"}},
	{"A streamed", gatherWith(func(s *schedule.Schedule) {
		s.Tensors[0].Axes = dims(schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.K))
	}), []string{"Tensors[0]"}},
	{"B sharded", gatherWith(func(s *schedule.Schedule) {
		s.Tensors[1].Axes = dims(schedule.Dim(schedule.N, schedule.DIDx(schedule.D)), schedule.Dim(schedule.K))
	}), []string{"Tensors[2]"}},
	{"A sharded by columns", gatherWith(func(s *schedule.Schedule) {
		s.Tensors[0].Axes = dims(schedule.Dim(schedule.M), schedule.Dim(schedule.K, schedule.DIDx(schedule.D)))
	}), []string{"Tensors[3]"}},
	{"two splits", gatherWith(func(s *schedule.Schedule) {
		s.Tensors[0].Axes = dims(schedule.Dim(schedule.M, schedule.Split{Kind: schedule.Plain, Count: "2"},
			schedule.DIDx(schedule.D)), schedule.Dim(schedule.K))
	}), []string{"Tensors[3]"}},
}

// A schedule that no pass lowers is refused with the field that asked for it.
func TestRefused(t *testing.T) {
	for _, test := range refusedCases {
		t.Run(test.name, test.run)
	}
}

func (test refusedCase) run(t *testing.T) {
	_, err := lower.Lower("X", test.s)
	var paths []string
	for _, e := range schedule.FieldErrors(err) {
		paths = append(paths, e.Path)
	}
	if diff := cmp.Diff(test.paths, paths); diff != "" {
		t.Errorf("field paths (-want +got):\n%s\n%v", diff, err)
	}
}

// inPlace puts a tensor within another.
func inPlace(s schedule.Schedule, tensor int, within string) schedule.Schedule {
	s.Tensors = append([]schedule.Tensor{}, s.Tensors...)
	s.Tensors[tensor].Within = within
	return s
}

// An all-reduce is the same whichever of the two tensors is within the other.
func TestEitherWithin(t *testing.T) {
	p, err := lower.Lower("X", catalog.AllReduceInPlace)
	if err != nil {
		t.Fatal(err)
	}
	other, err := lower.Lower("X", inPlace(catalog.AllReduceTwoShot, 1, "A"))
	if err != nil {
		t.Fatal(err)
	}
	body := func(p *hostir.Program) string { // what is after the line that names the caller's buffers
		_, text, _ := strings.Cut(hostir.Print(p), "\n")
		return text
	}
	renamed := strings.NewReplacer("C@", "A@", "C[", "A[", "(C,", "(A,").Replace(body(p))
	if diff := cmp.Diff(renamed, body(other)); diff != "" {
		t.Error(diff)
	}
}

// Every node that runs has a stream that the program declares, whatever the choices.
func TestStreamsOfEveryChoice(t *testing.T) {
	for i := range 1 << 4 {
		for _, streams := range []int{0, 1, 3} {
			w := schedule.Naive{Copied: i&1 != 0, SignalsInStep: i&2 != 0, WithStep: i&4 != 0, StartInLoop: i&8 != 0,
				HandlesInLoop: true, Streams: streams}
			p, err := lower.Lower("X", scheduletest.By(catalog.AllGatherLinear, "A", w))
			if err != nil {
				t.Fatalf("%+v: %v", w, err)
			}
			declared := map[string]bool{}
			for _, set := range p.Streams {
				declared[set.Name] = true
			}
			hostir.Walk(p.Body, func(n hostir.Node) {
				for _, r := range hostir.Streams(n) {
					if !declared[r.Set] {
						t.Errorf("%+v: %T is on stream %q\n%s", w, n, r.Set, hostir.Print(p))
					}
				}
			})
		}
	}
}

// Communications inferred from the placements of A and C that nvFuser's lowering does not
// infer, and placements that one leads between in the error for others.
func TestCommunications(t *testing.T) {
	dims := func(axes ...schedule.Axis) []schedule.Axis { return axes }
	m, n := schedule.Dim(schedule.M), schedule.Dim(schedule.N)
	rows, columns := schedule.Dim(schedule.M, schedule.DIDx(schedule.D)),
		schedule.Dim(schedule.N, schedule.DIDx(schedule.D))
	shifted := schedule.Dim(schedule.M, schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1})
	tests := []struct {
		what  string
		a, c  []schedule.Axis
		root  bool
		wrong string // the tensor that has no communication
		hint  string // how it begins
	}{
		{what: "DID to none is an all-gather", a: dims(rows, n), c: dims(m, n)},
		{what: "root to none is a broadcast", a: dims(m, n), c: dims(m, n), root: true},
		{what: "DID to DID of another rank is a permutation", a: dims(rows, n), c: dims(shifted, n)},
		{what: "none to none is nothing", a: dims(m, n), c: dims(m, n), wrong: "Tensors[0]",
			hint: "place it [DIDx(D), M/D, N]"},
		{what: "none to DID is nothing", a: dims(m, n), c: dims(rows, n), wrong: "Tensors[0]",
			hint: "place A [DIDx(D), M/D, N], C [M, N]"},
		{what: "none to DID of columns is nothing", a: dims(m, n), c: dims(m, columns), wrong: "Tensors[0]",
			hint: "place A [DIDx(D), M/D, N], C [M, N]"},
		{what: "DID of columns to none is an all-gather", a: dims(m, columns), c: dims(m, n)},
		{what: "DID of rows to columns is an all-to-all", a: dims(rows, n), c: dims(m, columns)},
		{what: "DID of columns to rows is an all-to-all", a: dims(m, columns), c: dims(rows, n)},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			_, err := lower.Lower("X", schedule.Schedule{Ops: []schedule.Op{schedule.Copy("C", "A")},
				Tensors: []schedule.Tensor{{Name: "A", Axes: test.a, Root: test.root}, {Name: "C", Axes: test.c}}})
			if test.wrong == "" && err == nil {
				return
			}
			list := schedule.FieldErrors(err)
			if len(list) != 1 || list[0].Path != test.wrong ||
				!strings.Contains(list[0].Msg, "no communication leads from A") ||
				!strings.HasPrefix(list[0].Hint, test.hint) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Tensors have the names that the operations give them, and so have remarks and errors.
func TestNames(t *testing.T) {
	tensors := []schedule.Tensor{
		{Name: "X", Axes: []schedule.Axis{
			schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), schedule.Dim(schedule.N)}},
		{Name: "Wq", Axes: []schedule.Axis{schedule.Dim(schedule.K), schedule.Dim(schedule.N)}},
		{Name: "Wk", Axes: []schedule.Axis{schedule.Dim(schedule.F), schedule.Dim(schedule.N)}},
		{Name: "Q", Axes: []schedule.Axis{
			schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.K)}},
		{Name: "A", Axes: []schedule.Axis{
			schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.F)}},
	}
	s := schedule.Schedule{Tensors: tensors, Ops: []schedule.Op{schedule.Linear("Q", "X", "Wq"),
		schedule.Linear("A", "X", "Wk")}}
	p, err := lower.Lower("Attention", s)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(hostir.Print(p)), " ")
	for _, want := range []string{"Linear(Q[r], X, Wq)", "Linear(A[r], X, Wk)", "X@peer",
		"X may be overwritten afterwards"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	s.Tensors = slices.Clone(tensors)
	s.Tensors[0].Axes = []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim(schedule.N)}
	_, err = lower.Lower("Attention", s)
	const want = "Q is made in steps, and every rank has all of X (place it [DIDx(D), M/D, N])"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	s.Tensors = slices.Clone(tensors)
	s.Ops = slices.Clone(s.Ops)
	s.Tensors[3].Name, s.Ops[0].Out = "Xgathered", "Xgathered"
	_, err = lower.Lower("Attention", s)
	if f := schedule.FieldErrors(err); len(f) != 1 || f[0].Path != "Tensors[3].Name" {
		t.Errorf("a name of the plan's memory: %v", err)
	}
}
