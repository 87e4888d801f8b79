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
)

func TestParseRanks(t *testing.T) {
	for text, want := range map[string][]int{
		"":        nil,
		"2":       {2},
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
	for _, text := range []string{"1", "0..4", "8..2", "x", "2..", "..3", "2...4", "-3", "2..5000"} {
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
	p.Body = hostir.Map(p.Body, func(n hostir.Node) []hostir.Node {
		if w, ok := n.(hostir.Wait); ok && w.Semaphore == "ready" {
			return nil
		}
		return []hostir.Node{n}
	})
	var stderr bytes.Buffer
	dir := t.TempDir()
	c := &call{ctx: t.Context(), env: Env{Dir: dir}, stderr: &stderr, trace: "wrong.json"}
	d := &load.Declaration{Name: "Broken"}
	d.Pos.Filename, d.Pos.Line, d.Pos.Column = "decl.go", 13, 5
	err = c.prove(&load.Package{Declarations: []*load.Declaration{d}}, []emit.Input{{Program: p}})
	var wrong load.Mistakes
	if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "decl.go:13:5: schedule Broken: prove Broken for D = 2: not shown: ") {
		t.Errorf("got %v", err)
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
