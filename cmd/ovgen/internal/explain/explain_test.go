package explain

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ovgen/cmd/ovgen/internal/memory"
	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/ops"
)

// sized is a case that every program of the catalog takes.
func sized(ranks, rank int) ops.Case {
	x := int64(64 * ranks)
	c := ops.Case{Ranks: ranks, Rank: rank, ElementBits: 16,
		Extents: hostir.Env{"M": x, "K": x, "N": x, "F": x, "W": 8, "P": 64, "N2": x, "N3": x}}
	for i := range ranks * ranks {
		c.Counts = append(c.Counts, int64(i%4))
	}
	return c
}

// written is an explanation in words.
func written(t *testing.T, p *hostir.Program, c ops.Case) string {
	t.Helper()
	x, err := Explain(p, c)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := x.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every program of the catalog is explained on every rank: each wait with its post,
// each operation once, no name of a node.
func TestCatalog(t *testing.T) {
	for _, n := range catalog.All() {
		p, err := lower.Lower(n.Name, n.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		for _, ranks := range []int{2, 3} {
			for rank := range ranks {
				text := written(t, p, sized(ranks, rank))
				for _, bad := range []string{"never", "%!", " -1 ", "; times", "Synchronize", "signal", "workspace",
					"step[", "apply"} {
					if strings.Contains(text, bad) {
						t.Fatalf("%s on rank %d of %d has %q:\n%s", n.Name, rank, ranks, bad, text)
					}
				}
				seen := map[string]bool{}
				for _, m := range numbered.FindAllStringSubmatch(text, -1) {
					seen[m[1]] = true
				}
				for number := range len(seen) {
					if !seen[fmt.Sprint(number+1)] {
						t.Fatalf("%s on rank %d of %d lacks step %d:\n%s", n.Name, rank, ranks, number+1, text)
					}
				}
				if ends := fmt.Sprintf("%3d  ends the run", len(seen)); !strings.Contains(text, ends) {
					t.Fatalf("%s on rank %d of %d has no %q:\n%s", n.Name, rank, ranks, ends, text)
				}
			}
		}
	}
}

// numbered is a step.
var numbered = regexp.MustCompile(`(?m)^ +(\d+)  \S`)

// The explanation of a wait without a post says so.
func TestUnposted(t *testing.T) {
	p, err := lower.Lower("Broken", catalog.AllGatherMatmul)
	if err != nil {
		t.Fatal(err)
	}
	p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
		if w, ok := s.Signal(); ok && !w.Wait && w.Semaphore == "ready" {
			return nil
		}
		return []hostir.Node{s}
	})
	text := written(t, p, sized(2, 0))
	if want := `waits for "ready" from rank 1, which never does`; !strings.Contains(text, want) {
		t.Errorf("it lacks %q:\n%s", want, text)
	}
}

func TestCountsMissing(t *testing.T) {
	p, err := lower.Lower("AllGatherV", catalog.AllGatherV)
	if err != nil {
		t.Fatal(err)
	}
	c := sized(2, 0)
	c.Counts = nil
	if _, err := Explain(p, c); err == nil || !strings.HasPrefix(err.Error(), "explain AllGatherV: ") {
		t.Errorf("got %v", err)
	}
}

// An exchange between hosts says what goes and what comes, where a rank has other rows than the one that it gets from.
func TestExchanges(t *testing.T) {
	x := catalog.AllGatherLinearBalanced
	x.Mesh, x.Moves = schedule.Hosts(), nil
	p, err := lower.Lower("X", x)
	if err != nil {
		t.Fatal(err)
	}
	for rank, want := range []string{"sends 32 bytes of its A from 0 bytes on to rank 1, gets nothing of rank 1",
		"sends nothing to rank 0, gets 32 bytes of rank 0 into its Agathered from 0 bytes on"} {
		c := ops.Case{Ranks: 2, Hosts: 2, Rank: rank, ElementBits: 16, Extents: hostir.Env{"M": 1, "K": 16, "N": 16}}
		if text := written(t, p, c); !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("rank %d: want %q:\n%s", rank, want, text)
		}
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1 << 10: "1.0 KiB", 3 << 19: "1.5 MiB",
		5 << 30: "5.0 GiB"} {
		if got := memory.Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for n, want := range map[float64]string{2e6: "2 MFLOP", 1.25e9: "1.2 GFLOP", 3e12: "3.0 TFLOP"} {
		if got := flops(n); got != want {
			t.Errorf("%g: %s, want %s", n, got, want)
		}
	}
	for want, list := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"},
		"a, b and c": {"a", "b", "c"}} {
		if got := and(list); got != want {
			t.Errorf("%v: %s", list, got)
		}
	}
}

// TestRoundedSums: NCCL rounds its sum before a kernel adds a residual; a kernel that adds up slots rounds once, behind
// the residual.
func TestRoundedSums(t *testing.T) {
	for _, c := range []struct {
		name string
		s    schedule.Schedule
		want bool
	}{{"LlamaLayerNCCL", catalog.LlamaLayerNCCL, true}, {"LlamaLayer", catalog.LlamaLayer, false}} {
		p, err := lower.Lower(c.name, c.s)
		if err != nil {
			t.Fatal(err)
		}
		sums := 0
		for line := range strings.Lines(written(t, p, sized(2, 0))) {
			if _, sum, ok := strings.Cut(line, " sums "); ok {
				sums++
				if strings.Contains(sum, "(rounded before)") != c.want {
					t.Errorf("%s: %s", c.name, line)
				}
			}
		}
		if sums == 0 {
			t.Errorf("%s sums nothing", c.name)
		}
	}
}
