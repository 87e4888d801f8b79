package lower_test

import (
	"maps"
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

// Each move of a chain is carried as its own way says, whatever the ways of the others are.
func TestMovesOfAChain(t *testing.T) {
	const gets, puts, shot = "copy; post; wait", "copy; post; reduce: sum; wait", "shot: sum in blocks"
	for _, test := range []struct {
		name    string
		r, x, c schedule.Way
		want    map[string]string // by the tensor of a move, its signals, copies between ranks and sums
	}{
		{"all left open", nil, nil, nil, map[string]string{"R": puts, "Xgathered": gets, "C": puts}},
		{"one kernel, and the copy engine", schedule.Shot{}, nil, nil,
			map[string]string{"R": shot, "Xgathered": gets, "C": puts}},
		{"one kernel, and a part by kernels", schedule.Shot{}, schedule.Pull{By: schedule.KernelCopies},
			schedule.Slots{By: schedule.KernelSignals},
			map[string]string{"R": shot, "Xgathered": "copy: copy; post; wait",
				"C": "copy; post: post; reduce: sum; wait: wait"}},
		{"signals by kernels, and all by kernels", schedule.Shot{Signals: schedule.Kernels}, nil,
			schedule.Slots{By: schedule.Kernels},
			map[string]string{"R": "post: post; reduce: sum; wait: wait", "Xgathered": gets,
				"C": "copy: copy; post: post; reduce: sum; wait: wait"}},
		{"no kernel but for the gather", schedule.Shot{Signals: schedule.MemOps}, schedule.Pull{By: schedule.Kernels},
			nil, map[string]string{"R": "post; reduce: sum; wait",
				"Xgathered": "copy: copy; post: post; wait: wait", "C": puts}},
		{"NCCL", schedule.NCCL{}, schedule.NCCL{}, schedule.NCCL{}, map[string]string{
			"R": "nccl: reduce-scatter; reduce: sum", "Xgathered": "nccl: all-gather",
			"C": "nccl: reduce-scatter; reduce: sum"}},
		{"NCCL gathers for one kernel", schedule.NCCL{}, schedule.NCCL{}, schedule.Shot{}, map[string]string{
			"R": "nccl: reduce-scatter; reduce: sum", "Xgathered": "nccl: all-gather", "C": shot}},
		{"packets", schedule.PushShot{}, schedule.PushGather{}, schedule.PushShot{Words: true}, map[string]string{
			"R": "packets: packets in blocks", "Xgathered": "packetgather: packetgather in blocks",
			"C": "push: packets in blocks"}},
		{"one kernel gathers, and slots", schedule.PushShot{}, schedule.GatherShot{}, nil, map[string]string{
			"R": "packets: packets in blocks", "Xgathered": "gather: gather in blocks", "C": puts}},
		{"NCCL adds up what came in turn", nil, nil, schedule.NCCL{}, map[string]string{
			"R": puts, "Xgathered": gets, "C": "nccl: reduce-scatter; reduce: sum"}},
	} {
		s := scheduletest.Clone(catalog.BlockBehindAttention)
		s.Moves = []schedule.Move{{Of: "R", Way: test.r}, {Of: "X", Way: test.x}, {Of: "C", Way: test.c}}
		p, err := lower.Lower("X", s)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, carriers(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// A sum that is gathered as it is has two moves of one name: the way that is written is of the one that has it, and the
// other has its default.
func TestSumThatIsGathered(t *testing.T) {
	s := scheduletest.Clone(catalog.BlockBehindAttention)
	s.Ops = slices.Delete(s.Ops, 1, 2) // the norm
	s.Tensors = slices.DeleteFunc(s.Tensors, func(t schedule.Tensor) bool { return t.Name == "Norm" })
	for i := range s.Ops[1:] {
		if o := &s.Ops[1+i]; o.In[0] == "X" {
			o.In[0] = "R"
		}
	}
	const gets, puts = "copy; post; wait", "copy; post; reduce: sum; wait"
	for _, test := range []struct {
		ways        []schedule.Way
		sum, gather string
	}{
		{[]schedule.Way{nil}, puts, gets},
		{[]schedule.Way{schedule.Shot{}}, "shot: sum in blocks", gets},
		{[]schedule.Way{schedule.PushShot{}}, "packets: packets in blocks", gets},
		{[]schedule.Way{schedule.GatherShot{}}, puts, "gather: gather in blocks"},
		{[]schedule.Way{schedule.Pull{By: schedule.Kernels}}, puts, "copy: copy; post: post; wait: wait"},
		{[]schedule.Way{schedule.Pull{}, schedule.NCCL{}}, "nccl: reduce-scatter; reduce: sum", gets},
		{[]schedule.Way{schedule.Slots{}, schedule.NCCL{}}, puts, "nccl: all-gather"},
	} {
		s.Moves = nil
		for _, way := range test.ways {
			s.Moves = append(s.Moves, schedule.Move{Of: "R", Way: way})
		}
		p, err := lower.Lower("X", s)
		if err != nil {
			t.Errorf("%v: %v", test.ways, err)
			continue
		}
		want := map[string]string{"R": test.sum, "Rgathered": test.gather, "C": puts}
		if diff := cmp.Diff(want, carriers(p)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.ways, diff)
		}
	}
}

// carriers lists for each move of a program what its steps do, each behind the kernel that does it. Steps that
// reach no peer are left out.
func carriers(p *hostir.Program) map[string]string {
	list := map[string]map[string]bool{}
	hostir.Steps(p.Body, func(s hostir.Step) {
		does := string(s.Kind())
		if w, signals := s.Signal(); signals && w.Wait {
			does = "wait"
		} else if signals {
			does = "post"
		} else if !s.Remote() && s.Kind() != hostir.SumKind && s.Kind() != hostir.GatherKind &&
			!s.Kind().Collective() && !s.Kind().Lands() {
			return
		}
		if s.By != "" {
			does = s.By + ": " + does
		}
		if s.ByBlocks {
			does += " in blocks"
		}
		if list[s.MoveOf] == nil {
			list[s.MoveOf] = map[string]bool{}
		}
		list[s.MoveOf][does] = true
	})
	text := map[string]string{}
	for of, all := range list {
		text[of] = strings.Join(slices.Sorted(maps.Keys(all)), "; ")
	}
	return text
}
