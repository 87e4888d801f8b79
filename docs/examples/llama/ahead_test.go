package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ovgen/verify/sampling"
)

// TestAhead serves models of all families on 1, 2 or 4 ranks, by steps that are launched ahead of the tokens that they
// read: two requests at once get the reference's tokens. Every second family is served, or all where OVGEN_SOAK is set.
func TestAhead(t *testing.T) {
	sampling.Test(t, 3, 4)
	answered(t, []int{2, 4, 1})
}

// answered is TestAhead on numbers of ranks.
func answered(t *testing.T, numbers []int) {
	for i, family := range slices.Sorted(maps.Keys(tinies)) {
		c := tinies[family]
		d := decoding{c: c, prompts: []int{21, 5}, n: 4, s: small}
		dir, weights := tiny(t, c)
		if i%2 > 0 && len(inTurn(i, numbers...)) < len(numbers) {
			continue // TestFamilies has it
		}
		for _, ranks := range inTurn(i/2, numbers...) {
			t.Run(fmt.Sprint(family, " served on ", ranks), func(t *testing.T) {
				spec := d.s.in(dir)
				spec.Ranks = ranks
				s := serveBy(t, spec.Start)
				s.healthy()
				var both sync.WaitGroup
				for i := range d.prompts {
					want, _ := greedy(t, c, weights, d.prompt(i), d.n)
					both.Go(func() { s.holds(d.prompt(i), d.n, want) })
				}
				both.Wait()
			})
		}
	}
}

// holds makes a request for so many tokens, which must get these.
func (s *serving) holds(prompt []int, most int, want []int) {
	s.t.Helper()
	list, err := json.Marshal(prompt)
	if err != nil {
		s.t.Error(err)
	}
	got := s.tokens(fmt.Sprintf(`{"model": "tiny", "prompt": %s, "max_tokens": %d}`, list, most))
	if !slices.Equal(got, want) {
		s.t.Errorf("tokens %v, want %v", got, want)
	}
}

// TestStop ends answers at a token in the middle, by which time the next step runs. Its token is dropped, and the next
// request in its place of the cache, as the one beside it, gets the reference's tokens.
func TestStop(t *testing.T) {
	d := decoding{c: Tiny, prompts: []int{21, 5, 7}, n: 6, s: small}
	dir, weights := t.TempDir(), Random(Tiny, seed)
	var want [][]int
	for i := range d.prompts {
		tokens, _ := greedy(t, d.c, weights, d.prompt(i), d.n)
		want = append(want, tokens)
	}
	c := d.c
	c.Ends = ids{want[0][2]}
	for i := range want {
		if at := slices.Index(want[i], c.Ends[0]); at >= 0 {
			want[i] = want[i][:at]
		}
	}
	if len(want[0]) != 2 {
		t.Fatalf("%v: choose another seed", want)
	}
	if err := WriteCheckpoint(dir, c, weights); err != nil {
		t.Fatal(err)
	}
	for _, sequences := range []int{1, 2} {
		spec := small.in(dir)
		spec.Sequences = sequences
		s := serveBy(t, spec.Start)
		s.healthy()
		var all sync.WaitGroup
		for range 3 {
			for i := range want {
				all.Go(func() { s.holds(d.prompt(i), d.n, want[i]) })
			}
		}
		all.Wait()
	}
}

// TestCancelAhead gives a request up while a step with its next token runs: the next one in its place gets the
// reference's tokens.
func TestCancelAhead(t *testing.T) {
	d := decoding{c: Tiny, prompts: []int{5}, n: 6, s: small}
	dir, weights := tiny(t, d.c)
	want, _ := greedy(t, d.c, weights, d.prompt(0), d.n)
	spec := small.in(dir)
	spec.Sequences = 1
	s := serveBy(t, spec.Start)
	s.healthy()
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := s.server.now.Load().Submit(ctx, []int{72, 105}, 100)
		if err != nil {
			t.Fatal(err)
		}
		<-r.Tokens
		cancel()
		s.holds(d.prompt(0), d.n, want)
		if n := len(r.Tokens); n > 50 || !errors.Is(r.Err, context.Canceled) {
			t.Errorf("%d tokens and %v of a request that was given up", n, r.Err)
		}
	}
}

// TestAbortAhead aborts the group of a crew that has two steps on their way: both end with an error, and
// the crew can be closed.
func TestAbortAhead(t *testing.T) {
	dir, _ := tiny(t, Tiny)
	crew, err := small.in(dir).Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var first, second Batch
	first.add(7, 0, 0)
	second.add(int(Choice(0, 0)), 0, 1)
	if err := errors.Join(crew.Launch(first), crew.Launch(second)); err != nil {
		t.Fatal(err)
	}
	crew.Ranks[1].(*Rank).group.Abort(errors.New("the power went"))
	for _, want := range []string{"the power went", "an earlier error"} {
		if _, err := crew.Wait(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a step behind an abort: %v, want %q", err, want)
		}
	}
	if err := crew.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestMostAhead refuses a step while two are on their way, and to wait for none.
func TestMostAhead(t *testing.T) {
	dir, _ := tiny(t, Tiny)
	for _, x := range []struct {
		launches int
		want     string
	}{{0, "no step was launched"}, {slots + 1, "2 steps run"}} {
		crew, err := small.in(dir).Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		b.add(7, 0, 0)
		var last error
		for range x.launches {
			last = crew.Launch(b)
		}
		if x.launches == 0 {
			_, last = crew.Wait()
		}
		if last == nil || !strings.Contains(last.Error(), x.want) {
			t.Errorf("%v, want %q", last, x.want)
		}
		_ = crew.Close(t.Context()) // whose error is the same
	}
}

// TestLaunchedAhead sees that the engine launches each step but the first before it waits for the one before, with
// tokens that it does not know.
func TestLaunchedAhead(t *testing.T) {
	c := &counter{hold: make(chan struct{})}
	s := counting(t, few, c)
	answer := make(chan []int)
	go func() { answer <- s.tokens(`{"model": "tiny", "prompt": [97], "max_tokens": 5}`) }()
	for n := range 5 {
		for launched := 0; launched < min(n+2, 5)-n; time.Sleep(time.Millisecond) {
			c.mu.Lock()
			launched = len(c.flight)
			c.mu.Unlock()
		}
		c.hold <- struct{}{}
	}
	if got := <-answer; !slices.Equal(got, []int{98, 99, 100, 101, 102}) {
		t.Errorf("tokens %v", got)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, b := range c.steps {
		if token := b.Rows[0].Token; len(c.steps) != 5 || i > 0 && token != Choice(i-1, 0) {
			t.Errorf("step %d of %d reads token %d", i, len(c.steps), token)
		}
	}
}
