package hostir_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/ops"
)

// faithful finds programs that print the same and enqueue different operations.
type faithful struct {
	operations map[string]string // by printed text
	texts      map[string]bool   // of operations
}

func (f *faithful) see(p *hostir.Program) (wrong string) {
	text, operations := hostir.Print(p), enqueued(p)
	if seen, ok := f.operations[text]; ok && seen != operations {
		return fmt.Sprintf("two programs print\n%sand one enqueues\n%s\nthe other\n%s", text, seen, operations)
	}
	if f.operations == nil {
		f.operations, f.texts = map[string]string{}, map[string]bool{}
	}
	f.operations[text], f.texts[operations] = operations, true
	return ""
}

// enqueued is the operations of all ranks for two, three and four of them.
func enqueued(p *hostir.Program) string {
	var b strings.Builder
	for d := 2; d <= 4; d++ {
		for r := range d {
			side := int64(48 * d)
			c := ops.Case{Ranks: d, Rank: r, M: side, K: 2 * side, N: 4 * side, ElementSize: 4,
				Extents: map[string]int64{"N2": side, "N3": side, "F": side, "P": side}}
			for i := range d * d {
				c.Counts = append(c.Counts, int64(i+1))
			}
			list, err := ops.Unroll(p, c)
			if err != nil {
				fmt.Fprintf(&b, "%d of %d: %v\n", r, d, err)
			}
			b.WriteString(ops.Lines(list))
		}
	}
	return b.String()
}

// No two programs of the catalog, and none of it and the same schedule with other choices,
// print the same and enqueue different operations.
func TestPrintIsFaithful(t *testing.T) {
	var f faithful
	lowered := func(s schedule.Schedule) {
		p, err := lower.Lower("X", s)
		if err != nil {
			return // schedule refused
		}
		if wrong := f.see(p); wrong != "" {
			t.Error(wrong)
		}
	}
	for _, n := range catalog.All() {
		for _, compute := range []int{0, 2, 3} {
			for _, kernel := range []bool{false, true} {
				for _, parts := range []int{0, 2, 3} {
					s := n.Schedule
					if compute > 0 {
						s.Streams.Compute = compute
					}
					if kernel {
						s.Transport.Signal = schedule.SignalKernel
					}
					if parts > 0 {
						s.Pipeline.Parts = parts
					}
					lowered(s)
				}
			}
		}
	}
	if len(f.operations) < 100 {
		t.Errorf("only %d programs were seen", len(f.operations))
	}
	t.Logf("%d texts of %d lists of operations", len(f.operations), len(f.texts))
}

// Programs that are one edit apart print differently where they enqueue different operations.
func TestPrintTellsEdits(t *testing.T) {
	var programs []*hostir.Program
	for _, n := range catalog.All() {
		p, err := lower.Lower("X", n.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p)
	}
	var f faithful
	for _, p := range programs {
		if wrong := f.see(p); wrong != "" {
			t.Error(wrong)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := *rapid.SampledFrom(programs).Draw(t, "program")
		p.Buffers = slices.Clone(p.Buffers)
		edit(t, &p)
		if wrong := f.see(&p); wrong != "" {
			t.Fatal(wrong)
		}
	})
}

// edit changes one part of a program.
func edit(t *rapid.T, p *hostir.Program) {
	parts := 0
	count := hostir.Parts{
		Stream: func(s hostir.StreamRef) hostir.StreamRef { parts++; return s },
		Word:   func(w hostir.Word) hostir.Word { parts++; return w },
		View:   func(_ string, v hostir.View) hostir.View { parts++; return v },
		Expr:   func(_ string, e hostir.Expr) hostir.Expr { parts++; return e },
	}
	hostir.Rewrite(p.Body, count)
	if rapid.IntRange(0, 4).Draw(t, "what") == 0 {
		i := rapid.IntRange(0, len(p.Buffers)-1).Draw(t, "buffer")
		p.Buffers[i].Chunk = hostir.Mul(p.Buffers[i].Chunk, hostir.Const(rapid.Int64Range(2, 3).Draw(t, "times")))
		return
	}
	at, chosen := -1, rapid.IntRange(0, parts-1).Draw(t, "part")
	hit := func() bool { at++; return at == chosen }
	p.Body = hostir.Rewrite(p.Body, hostir.Parts{
		Stream: func(s hostir.StreamRef) hostir.StreamRef {
			if hit() {
				s.Set = rapid.SampledFrom([]string{"main", "copy", "work"}).Draw(t, "set")
			}
			return s
		},
		Word: func(w hostir.Word) hostir.Word {
			if hit() {
				switch rapid.IntRange(0, 3).Draw(t, "of the word") {
				case 0:
					w.Wait = !w.Wait
				case 1:
					w.Peer = hostir.Expr{}
				case 2:
					w.Index = hostir.Const(1)
				default:
					w.Semaphore += "2"
				}
			}
			return w
		},
		View: func(_ string, v hostir.View) hostir.View {
			if hit() {
				switch rapid.IntRange(0, 4).Draw(t, "of the view") {
				case 0:
					v.Peer = hostir.Expr{}
				case 1:
					v.Index, v.Count = hostir.Rank, hostir.Const(2)
				case 2:
					v.Count = hostir.Expr{}
				case 3:
					v.Padded = !v.Padded
				default:
					v.Index = hostir.Expr{}
				}
			}
			return v
		},
		Expr: func(_ string, e hostir.Expr) hostir.Expr {
			if hit() {
				return hostir.Add(e, hostir.Const(1))
			}
			return e
		},
	})
}
