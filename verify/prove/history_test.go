package prove_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/verify/prove"
)

// nvfuser is the schedule that nvFuser runs: signals in the step, four streams in turn.
func nvfuser(t *testing.T) *hostir.Program {
	s := catalog.AllGatherLinear
	s.Moves = []schedule.Move{{Of: "A", Way: schedule.Naive{Copied: true, SignalsInStep: true, HandlesInLoop: true,
		WithStep: true, Streams: 4}}}
	return program(t, "nvFuser", s)
}

// refuted returns the counterexample of a program on d ranks.
func refuted(t *testing.T, p *hostir.Program, d int) *prove.Counterexample {
	t.Helper()
	_, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{d}})
	var c *prove.Counterexample
	if !errors.As(err, &c) {
		t.Fatalf("proven, or no counterexample: %v", err)
	}
	t.Log(c)
	return c
}

// says checks the property, and that the two operations are what they should be.
func says(t *testing.T, c *prove.Counterexample, p prove.Property, first, second string) {
	t.Helper()
	if c.Property != p {
		t.Errorf("property %q, want %q", c.Property, p)
	}
	for _, x := range []struct {
		at   *prove.Place
		want string
	}{{c.First, first}, {c.Second, second}} {
		if x.at == nil && x.want != "" || x.at != nil && !strings.Contains(x.at.String(), x.want) {
			t.Errorf("operation %v, want %q", x.at, x.want)
		}
	}
}

// nvFuser's own program is safe as a stream of calls, and not as a captured graph.
func TestNvFuser(t *testing.T) {
	r, err := prove.Schedule(t.Context(), nvfuser(t), prove.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Replay() || r.Sizes[1].Captured != nil {
		t.Errorf("with two ranks nothing is unordered, with three steps are: %v", r)
	}
	if !strings.HasSuffix(r.String(), "without replay: it rests on queues that start operations in the order of "+
		"enqueueing, 4 warnings") {
		t.Error(r)
	}
}

// PyTorch (issue 137171): memory was used again before all peers had read it, for want
// of a barrier after the reads.
func TestNoAcknowledgement(t *testing.T) {
	p := program(t, "NoAcknowledgement", catalog.AllGatherLinear)
	p.Semaphores = p.Semaphores[:1]
	p.Body = hostir.Without(p.Body, "read")
	c := refuted(t, p, 2)
	says(t, c, prove.Reset, "copy, step 5, run 1: reset ready[1]@0",
		"copy, step 3, run 2: post ready[1]@0 = 1 (Moves)")
	if !strings.Contains(c.Suggestion, "acknowledge") {
		t.Error(c.Suggestion)
	}
	page, err := os.ReadFile("../../docs/proof.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```\n"+c.Error()+"\n```\n") {
		t.Errorf("docs/proof.md shows another counterexample than:\n%s", c)
	}
}

// The same with the acknowledgement before the copy: words alternate, and still a
// rank may return to its caller while a peer reads A.
func TestAcknowledgedTooEarly(t *testing.T) {
	p := program(t, "AcknowledgedTooEarly", catalog.AllGatherLinear)
	p.Body = hostir.MapSteps(p.Body, func(n hostir.Step) []hostir.Node {
		if w, ok := n.Signal(); ok && !w.Wait && w.Semaphore == "read" {
			return nil
		}
		if n.Kind() == hostir.CopyKind {
			return []hostir.Node{hostir.Post(n.Stream, "read", hostir.Every), n}
		}
		return []hostir.Node{n}
	})
	says(t, refuted(t, p, 2), prove.Window, "rank 0, copy, step 7, run 1: copy A@1",
		"rank 1, main, run 1: end of the run")
}

// One word for the steps of two streams: each stream's wait may take the other's post.
func TestSharedSemaphore(t *testing.T) {
	exchanges := func(peer string) string {
		one := "S post x PEER; S wait x PEER; S T = C; "
		return "a < main; b < main; " + strings.NewReplacer("S ", "a ", "T", "S", "PEER", peer).Replace(one) +
			strings.NewReplacer("S ", "b ", "PEER", peer).Replace(one) + "main < a; main < b"
	}
	lists := parse(t, exchanges("1"), exchanges("0"))
	_, err := prove.Lists(t.Context(), needed(model, lists), lists, 0)
	var c *prove.Counterexample
	if !errors.As(err, &c) {
		t.Fatalf("proven, or no counterexample: %v", err)
	}
	t.Log(c)
	says(t, c, prove.Reset, "rank 0, a, step 3, run 1: post x[0]@1", "rank 0, b, step 6, run 1: post x[0]@1")
}

// nvFuser (pull 4430, 5429): a wait found by the current index was that of another
// step once the index had moved.
func TestMovedIndex(t *testing.T) {
	for d := 2; d <= 5; d++ {
		p := program(t, "MovedIndex", catalog.AllGatherLinear)
		words(func(w *hostir.Word) {
			if w.Wait && w.Semaphore == "ready" {
				w.Peer = hostir.Mod(hostir.Add(w.Peer, hostir.Const(1)), hostir.Size)
			}
		})(p)
		says(t, refuted(t, p, d), prove.Rest, "post ready[", "")
	}
}

// The same where every post still has its wait, in the wrong step.
func TestMovedWithinTheRun(t *testing.T) {
	p := program(t, "MovedWithinTheRun", catalog.AllGatherLinear)
	words(func(w *hostir.Word) {
		if w.Wait && w.Semaphore == "ready" {
			w.Peer = hostir.Behind(hostir.Var("i"))
		}
	})(p)
	says(t, refuted(t, p, 3), prove.Window, "rank 0, main, run 1: start of the run",
		"rank 2, copy, step 7, run 1: copy A@0")
}
