package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/cmd/ovgen/internal/emit"
	"ovgen/cmd/ovgen/internal/load"
	schedules "ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
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
		"1024":    {1024},
		"2..2":    {2},
		"4,2..3,": {4, 2, 3},
	} {
		got, err := parseRanks(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"0", "0..4", "8..2", "x", "2..", "..3", "2...4", "-3", "2..5000"} {
		got, err := parseRanks(text)
		var wrong *usageError
		if !errors.As(err, &wrong) {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

// What can't be proven is a mistake at the declaration, and its interleaving a trace.
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
	if len(wrong) != 1 || !strings.HasPrefix(wrong.Error(), "decl.go:13:5: schedule Broken: prove Broken for D = 2: not shown: ") {
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

// What panics is one schedule's mistake, with its name and position; the others go on.
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
	if len(wrong) != 1 || !strings.HasPrefix(wrong.Error(), "decl.go:7:2: schedule Bad: ovgen fails on this schedule: ") {
		t.Errorf("got %v", wrong)
	}
	if list.list[1].input.Proof == nil {
		t.Error("the other one is not proven")
	}
	broken := *p
	broken.Name, broken.Body = "Broken", []hostir.Node{nil}
	if _, err := emit.Packages([]emit.Input{{Program: &broken}}, emit.Options{}); err == nil || !strings.HasPrefix(err.Error(), "schedule Broken: the emitter fails on this schedule: ") {
		t.Errorf("the emitter: got %v", err)
	}
}

// A proof that takes long has a line for each mesh size.
func TestProgressOfALongProof(t *testing.T) {
	p, err := lower.Lower("Layer", schedules.AllGather)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	_, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 3, 5}, Done: func(s prove.Size) { sizes = append(sizes, s.Ranks) }})
	if diff := cmp.Diff([]int{2, 3, 5}, sizes); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}
