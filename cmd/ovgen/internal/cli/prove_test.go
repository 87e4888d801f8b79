package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ovgen/cmd/ovgen/internal/emit"
	"ovgen/cmd/ovgen/internal/load"
	schedules "ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
)

func TestParseRanks(t *testing.T) {
	for text, want := range map[string][]int{
		"":        nil,
		"1":       {1},
		"2":       {2},
		"1..3":    {1, 2, 3},
		"2..5":    {2, 3, 4, 5},
		"3,8..9":  {3, 8, 9},
		"2,72":    {2, 72},
		"128":     {128},
		"1..72":   upTo(72),
		"2..2":    {2},
		"4,2..3,": {2, 3, 4},
		"3,3,2,3": {2, 3},
	} {
		got, err := parseRanks(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	unread, large, many := "is no number of ranks (use 1..8", "a proof is tried for 128 at most (name the sizes",
		"so many sizes take more time than 1..72"
	for text, want := range map[string]string{
		"0": unread, "0..4": unread, "8..2": unread, "x": unread, "2..": unread, "..3": unread, "2...4": unread,
		"-3":  unread,
		"129": large, "2..1000": large, "2..5000000000": large, "1..73": many, "2..128": many, "8,100..128": many,
	} {
		got, err := parseRanks(text)
		if wrong := (*usageError)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %q", text, got, err, want)
		}
	}
}

// However many sizes are proven, there is a line at most each five seconds.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	begun := time.Now()
	p := progress{to: &out, name: "Layer", begun: begun, last: begun}
	for i := range 1000 {
		p.proven(i+1, begun.Add(time.Duration(i)*20*time.Millisecond))
	}
	want := "Layer: proven for D = 252, after 5 s\nLayer: proven for D = 503, after 10 s\nLayer: proven for D = 754, " +
		"after 15 s\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// A schedule that can't be proven is a mistake at its declaration, and its interleaving is
// written as a trace.
func TestUnproven(t *testing.T) {
	p, err := lower.Lower("Broken", schedules.AllGatherMatmul)
	if err != nil {
		t.Fatal(err)
	}
	p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
		if w, ok := s.Signal(); ok && w.Wait && w.Semaphore == "ready" {
			return nil
		}
		return []hostir.Node{s}
	})
	var stderr bytes.Buffer
	dir := t.TempDir()
	c := &call{ctx: t.Context(), env: Env{Dir: dir}, stderr: &stderr, trace: "wrong.json"}
	d := &load.Declaration{Name: "Broken"}
	d.Pos.Filename, d.Pos.Line, d.Pos.Column = "decl.go", 13, 5
	list := &subjects{list: []*subject{{Declaration: d, input: emit.Input{Program: p}}}}
	if err := c.prove(list, nil); err != nil {
		t.Fatal(err)
	}
	wrong := list.mistakes()
	if len(wrong) != 1 || !strings.HasPrefix(wrong.Error(),
		"decl.go:13:5: schedule Broken: prove Broken for D = 2: not shown: ") {
		t.Errorf("got %v", wrong)
	}
	text, err := os.ReadFile(filepath.Join(dir, "wrong.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) || !strings.Contains(string(text), `"ph"`) {
		t.Errorf("the trace is no trace: %.200s", text)
	}
	if !strings.Contains(stderr.String(), "wrong.json") {
		t.Errorf("nothing names the trace: %q", stderr.String())
	}
}

// A panic is one schedule's mistake, with its name and position; the others go on.
func TestPanicIsOneSchedules(t *testing.T) {
	p, err := lower.Lower("Good", schedules.AllGather)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	c := &call{ctx: t.Context(), stderr: &stderr}
	bad, good := &load.Declaration{Name: "Bad"}, &load.Declaration{Name: "Good"}
	bad.Pos.Filename, bad.Pos.Line, bad.Pos.Column = "decl.go", 7, 2
	list := &subjects{list: []*subject{{Declaration: bad}, {Declaration: good, input: emit.Input{Program: p}}}}
	if err := c.prove(list, []int{2}); err != nil {
		t.Fatal(err)
	}
	wrong := list.mistakes()
	if len(wrong) != 1 || !strings.HasPrefix(wrong.Error(),
		"decl.go:7:2: schedule Bad: ovgen fails on this schedule: ") {
		t.Errorf("got %v", wrong)
	}
	if list.list[1].input.Proof == nil {
		t.Error("the other one is not proven")
	}
	broken := *p
	broken.Name, broken.Body = "Broken", []hostir.Node{nil}
	if _, err := emit.Packages([]emit.Input{{Program: &broken}}, emit.Options{}); err == nil ||
		!strings.HasPrefix(err.Error(), "schedule Broken: the emitter fails on this schedule: ") {
		t.Errorf("the emitter: got %v", err)
	}
}

// The prover tells of each mesh size when it is done.
func TestSizesAreTold(t *testing.T) {
	p, err := lower.Lower("Layer", schedules.AllGather)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	_, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 3, 5},
		Done: func(s prove.Size) { sizes = append(sizes, s.Ranks) }})
	if diff := cmp.Diff([]int{2, 3, 5}, sizes); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestDisagreement: a schedule that the explorer refuses while the prover accepts it is a mistake at its declaration,
// in the explorer's words.
func TestDisagreement(t *testing.T) {
	p, err := lower.Lower("Layer", schedules.AllGatherMatmul)
	if err != nil {
		t.Fatal(err)
	}
	hasty := *p // for the explorer alone
	hasty.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
		if w, ok := s.Signal(); ok && w.Wait && w.Semaphore == "ready" {
			return nil
		}
		return []hostir.Node{s}
	})
	d := &load.Declaration{Name: "Layer"}
	d.Pos.Filename, d.Pos.Line, d.Pos.Column = "decl.go", 13, 5
	for _, x := range []struct {
		looksAt  *hostir.Program
		explored []int
		want     string
	}{{p, []int{1, 2, 3}, ""}, {&hasty, nil, "decl.go:13:5: schedule Layer: the prover accepts it, and the explorer " +
		"does not (please report this): explore AllGatherMatmul for D = 2 (eager): no race: at once: "}} {
		x.looksAt.Name = "AllGatherMatmul"
		c := &call{ctx: t.Context(), look: func(_ *hostir.Program, ranks []int, replay bool) ([]int, error) {
			return explore.Small(x.looksAt, ranks, replay)
		}}
		list := &subjects{list: []*subject{{Declaration: d, input: emit.Input{Program: p}}}}
		if err := c.prove(list, nil); err != nil {
			t.Fatal(err)
		}
		err := list.mistakes().Err()
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.HasPrefix(err.Error(), x.want)) {
			t.Errorf("got %v, want %q", err, x.want)
		}
		if diff := cmp.Diff(x.explored, list.list[0].explored); x.want == "" && diff != "" {
			t.Error(diff)
		}
	}
}
