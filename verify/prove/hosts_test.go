package prove_test

import (
	"errors"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// over is a schedule for ranks on several hosts.
func over(s schedule.Schedule) schedule.Schedule {
	s.Mesh = schedule.Hosts()
	return s
}

// inParts is a schedule over hosts whose tensor, or sums, cross the network in parts.
func inParts(s schedule.Schedule, of string, n int) schedule.Schedule {
	return scheduletest.By(over(s), of, schedule.Rails{Parts: n})
}

// Each communication over hosts is proven, and can be replayed; where OVGEN_SOAK is set, on up to 16 ranks.
func TestHosts(t *testing.T) {
	ranks := []int{1, 4, 6}
	if sampling.All() {
		ranks = append(ranks, 12, 16)
	} else {
		t.Log("not on 12 and 16 ranks: OVGEN_SOAK is not set")
	}
	for name, s := range map[string]schedule.Schedule{
		"AllGatherLinearHosts":     catalog.AllGatherLinearHosts,
		"LinearReduceScatterHosts": catalog.LinearReduceScatterHosts,
		"LinearAllReduceHosts":     catalog.LinearAllReduceHosts,
		"AllReduceHosts":           catalog.AllReduceHosts,
		"a bare all-gather":        over(catalog.AllGather),
		"a bare reduce-scatter":    over(catalog.ReduceScatter),
		"three products":           over(catalog.AllGatherQKV),
		"bias and residual":        over(catalog.RowParallelLinear),
		"in parts":                 inParts(catalog.AllGatherLinear, "A", 3),
		"sums in parts":            inParts(catalog.LinearReduceScatter, "C", 2),
		"bias, residual, parts":    inParts(catalog.RowParallelLinear, "C", 3),
		"sums to all in parts":     inParts(catalog.LinearAllReduce, "C", 2),
		"bare sums in parts":       inParts(catalog.ReduceScatter, "C", 3),
		"a gated MLP":              over(catalog.GatedMLP),
		"a layer":                  over(catalog.LlamaLayer),
		"bare, to all, in parts":   inParts(catalog.AllReduceHosts, "C", 2),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := prove.Schedule(t.Context(), program(t, name, s), prove.Options{Ranks: ranks})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Replay() {
				t.Error("it can't be replayed")
			}
			for _, size := range r.Sizes {
				for _, w := range size.Warnings {
					t.Error(w)
				}
			}
		})
	}
}

// host is the list of a rank on hosts of two, with words between the ranks of a host and exchanges along the rails.
type host struct {
	rank  int
	hosts int
	list  []ops.Op
}

func (h *host) peer() int { return h.rank ^ 1 }

func (h *host) post(word string) {
	h.list = append(h.list, ops.Op{Kind: ops.Signal, Stream: "main", Words: []ops.Word{
		{Write: true, Value: 1, At: ops.Loc{Rank: h.peer(), Buffer: word, Offset: int64(4 * h.rank)}}}})
}

func (h *host) wait(word string) {
	at := ops.Loc{Rank: h.rank, Buffer: word, Offset: int64(4 * h.peer())}
	h.list = append(h.list, ops.Op{Kind: ops.Signal, Stream: "main", Words: []ops.Word{{Value: 1, At: at},
		{Write: true, At: at}}})
}

// exchange sends to the next host and gets from the one before.
func (h *host) exchange() {
	ranks := 2 * h.hosts
	h.list = append(h.list, ops.Op{Kind: ops.Collective, Form: "exchange", Stream: "main", To: (h.rank + 2) % ranks,
		From: (h.rank + ranks - 2) % ranks, Uses: []ops.Use{{At: ops.Loc{Rank: h.rank, Buffer: "A"}, Bytes: 8},
			{Write: true, At: ops.Loc{Rank: h.rank, Buffer: "G"}, Bytes: 8}}})
}

// onHosts proves what the ranks of so many hosts do.
func onHosts(t *testing.T, hosts int, run func(h *host)) error {
	m := prove.Model{Program: "Exchange", Hosts: hosts, Semaphores: []string{"x", "y"}, Buffers: []prove.Buffer{
		{Name: "A", Owner: "caller", Shared: true, Bytes: 8}, {Name: "G", Owner: "plan", Bytes: 8}}}
	var lists [][]ops.Op
	for r := range 2 * hosts {
		h := &host{rank: r, hosts: hosts, list: []ops.Op{{Kind: ops.After, Stream: "main"}}}
		run(h)
		lists = append(lists, append(h.list, ops.Op{Kind: ops.Done, Stream: "main"}))
	}
	_, err := prove.Lists(t.Context(), m, lists, 2)
	return err
}

// Exchanges that don't fit together, and uses of another host, are refused.
func TestExchanges(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(exchange, post *ops.Op) // of rank 1
		want   prove.Property               // empty: it is right
	}{
		{"right", func(_, _ *ops.Op) {}, ""},
		{"to another rail", func(x, _ *ops.Op) { x.To = 2 }, prove.Agreement},
		{"from another rail", func(x, _ *ops.Op) { x.From = 2 }, prove.Agreement},
		{"from itself", func(x, _ *ops.Op) { x.From = 1 }, prove.Agreement},
		{"fewer bytes", func(x, _ *ops.Op) { x.Uses[0].Bytes, x.Uses[1].Bytes = 4, 4 }, prove.Agreement},
		{"another count to send", func(x, _ *ops.Op) { x.Uses[0].Bytes = 4 }, prove.Agreement},
		{"another count to get", func(x, _ *ops.Op) { x.Uses[1].Bytes = 4 }, prove.Agreement},
		{"nothing to get", func(x, _ *ops.Op) { x.Uses = x.Uses[:1] }, prove.Agreement},
		{"another collective", func(x, _ *ops.Op) { x.Form, x.To, x.From = "all-reduce", 0, 0 }, prove.Agreement},
		{"a post to another host", func(_, post *ops.Op) { post.Words[0].At.Rank = 3 }, prove.Remote},
		{"a read of another host", func(x, _ *ops.Op) { x.Uses[0].At.Rank = 3 }, prove.Remote},
	} {
		t.Run(x.name, func(t *testing.T) {
			err := onHosts(t, 2, func(h *host) {
				h.exchange()
				h.post("x")
				if h.rank == 1 {
					x.change(&h.list[1], &h.list[2])
				}
				h.wait("x")
				h.post("y")
				h.wait("y")
			})
			if x.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var wrong *prove.Counterexample
			if !errors.As(err, &wrong) || wrong.Property != x.want {
				t.Errorf("got %v, want %q", err, x.want)
			}
		})
	}
}

// NCCL may keep what a rank sends, or make it wait for the rank that gets it: a circle in which a sender waits for
// its receiver is a deadlock, although no data goes round it. On two hosts data does.
func TestUnbufferedExchanges(t *testing.T) {
	for hosts := 2; hosts <= 3; hosts++ {
		err := onHosts(t, hosts, func(h *host) {
			switch h.rank {
			case 0, 3: // the peer begins once this rank has ended
				h.exchange()
				h.post("x")
				h.wait("y")
			case 1, 2:
				h.wait("x")
				h.post("y")
				h.exchange()
			default:
				h.exchange()
			}
		})
		var wrong *prove.Counterexample
		if !errors.As(err, &wrong) || wrong.Property != prove.Deadlock {
			t.Errorf("%d hosts: %v", hosts, err)
		}
	}
}
