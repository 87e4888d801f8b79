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
		{"all left open", nil, nil, nil, map[string]string{"R": puts, "X": gets, "C": puts}},
		{"one kernel, and the copy engine", schedule.Shot{}, nil, nil,
			map[string]string{"R": shot, "X": gets, "C": puts}},
		{"one kernel, and a part by kernels", schedule.Shot{}, schedule.Get{By: schedule.KernelCopies},
			schedule.LayerSlots{By: schedule.KernelSignals},
			map[string]string{"R": shot, "X": "copy: copy; post; wait",
				"C": "copy; post: post; reduce: sum; wait: wait"}},
		{"signals by kernels, and all by kernels", schedule.Shot{Signals: schedule.Kernels}, nil,
			schedule.LayerSlots{By: schedule.Kernels},
			map[string]string{"R": "post: post; reduce: sum; wait: wait", "X": gets,
				"C": "copy: copy; post: post; reduce: sum; wait: wait"}},
		{"no kernel but for the gather", schedule.Shot{Signals: schedule.MemOps}, schedule.Get{By: schedule.Kernels},
			nil, map[string]string{"R": "post; reduce: sum; wait",
				"X": "copy: copy; post: post; wait: wait", "C": puts}},
		{"NCCL", schedule.NCCL{}, schedule.NCCL{}, schedule.NCCL{}, map[string]string{
			"R": "nccl: reduce-scatter; reduce: sum", "X": "nccl: all-gather",
			"C": "nccl: reduce-scatter; reduce: sum"}},
		{"NCCL gathers for one kernel", schedule.NCCL{}, schedule.NCCL{}, schedule.Shot{}, map[string]string{
			"R": "nccl: reduce-scatter; reduce: sum", "X": "nccl: all-gather", "C": shot}},
		{"packets", schedule.PushShot{}, schedule.PushGather{}, schedule.PushShot{Words: true}, map[string]string{
			"R": "packets: packets in blocks", "X": "packetgather: packetgather in blocks",
			"C": "push: packets in blocks"}},
		{"one kernel gathers, and slots", schedule.PushShot{}, schedule.GatherShot{}, nil, map[string]string{
			"R": "packets: packets in blocks", "X": "gather: gather in blocks", "C": puts}},
		{"NCCL adds up what came in turn", nil, nil, schedule.NCCL{}, map[string]string{
			"R": puts, "X": gets, "C": "nccl: reduce-scatter; reduce: sum"}},
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

// carriers lists for each move of a program what its steps do, each behind the kernel that does it. Steps that
// reach no peer are left out.
func carriers(p *hostir.Program) map[string]string {
	list := map[string]map[string]bool{}
	hostir.Steps(p.Body, func(s hostir.Step) {
		does := string(s.Do)
		if w, signals := s.Signal(); signals && w.Wait {
			does = "wait"
		} else if signals {
			does = "post"
		} else if !s.Remote() && s.Do != hostir.Sum && s.Do != hostir.Gather && !s.Do.Collective() && !s.Do.Lands() {
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
