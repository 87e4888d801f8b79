package passes_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/passes"
)

// The program of each schedule of the catalogue is sound behind each pass, and can be enqueued once launches are whole.
func TestPasses(t *testing.T) {
	for _, n := range catalog.All() {
		fused := false
		if _, err := lower.Behind(n.Name, n.Schedule, func(pass passes.Pass, p *hostir.Program) {
			fused = fused || pass.Name == "fuse"
			for _, err := range []error{sound(p), hostir.Check(p.Setup), hostir.Check(p.Body)} {
				if err != nil && (fused || !strings.Contains(err.Error(), "between its signals")) {
					t.Errorf("%s behind %s: %v", n.Name, pass.Name, err)
				}
			}
		}); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
	}
}

// A pass may run before another one that it does not need, directly or by others: the program is the same.
func TestPassesNeedWhatTheySay(t *testing.T) {
	usual := passes.All
	defer func() { passes.All = usual }()
	text := func(n catalog.Named) string {
		p, err := lower.Lower(n.Name, n.Schedule)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s\n%+v", hostir.Print(p), *p)
	}
	var list []catalog.Named
	want := map[string]string{}
	for i, n := range catalog.All() {
		if i%7 == 0 || slices.Contains([]string{"AllGatherQuantised", "AllGatherVFP4", "AllReduceInPlace",
			"AllGatherInPlace", "LinearAllReduceFewRowsAhead", "AllReduceNormTwoShot", "DataParallelLayer"}, n.Name) {
			list, want[n.Name] = append(list, n), text(n)
		}
	}
	for i := range usual {
		for j := i + 1; j < len(usual); j++ {
			passes.All = slices.Insert(slices.Delete(slices.Clone(usual), j, j+1), i, usual[j])
			if !inOrder(passes.All) {
				continue
			}
			for _, n := range list {
				if text(n) != want[n.Name] {
					t.Errorf("%s runs before %s, and the program of %s is another one", usual[j].Name, usual[i].Name,
						n.Name)
					break
				}
			}
		}
	}
}

// inOrder says that each pass runs behind the passes that it needs.
func inOrder(list []passes.Pass) bool {
	for i, pass := range list {
		for _, name := range pass.Needs {
			if !slices.ContainsFunc(list[:i], func(x passes.Pass) bool { return x.Name == name }) {
				return false
			}
		}
	}
	return true
}

// Each pass has a name of its own, and runs behind the passes that it needs.
func TestPassesInOrder(t *testing.T) {
	var before []string
	for _, pass := range passes.All {
		if pass.Name == "" || pass.Sentence == "" || slices.Contains(before, pass.Name) {
			t.Errorf("pass %q: %q", pass.Name, pass.Sentence)
		}
		for _, name := range pass.Needs {
			if !slices.Contains(before, name) {
				t.Errorf("%s needs %s, which does not run before it", pass.Name, name)
			}
		}
		before = append(before, pass.Name)
	}
}

// The library, and kernels of tiles, add in one order in all products of an invariant schedule, and in none of another.
func TestEqualBits(t *testing.T) {
	few := catalog.LinearAllReducePackets
	few.FewRows = 8
	for _, of := range []schedule.Schedule{catalog.GatedMLP, catalog.LinearReduceScatter,
		catalog.LinearAllReducePackets, few, catalog.AllGatherLinearTiles, catalog.LinearReduceScatterTiles} {
		for _, of.Invariant = range []bool{false, true} {
			p, err := lower.Lower("Bits", of)
			if err != nil {
				t.Fatal(err)
			}
			products := 0
			hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
				own, _ := s.OwnProduct()
				if x, ok := own.Do.(hostir.Product); ok {
					products++
					if x.InOrder != of.Invariant {
						t.Errorf("Invariant %t: %+v", of.Invariant, x)
					}
				}
				return []hostir.Node{s}
			})
			if products == 0 {
				t.Errorf("no product in %s", of.Ops)
			}
			if text := hostir.Print(p); strings.Contains(text, ", in order") != of.Invariant {
				t.Errorf("Invariant %t: %s", of.Invariant, text)
			}
		}
	}
}

// A schedule without products may ask for equal bits, and has the program that it has without asking.
func TestEqualBitsAlone(t *testing.T) {
	for _, of := range []schedule.Schedule{catalog.AllReduceNorm, catalog.AllReduceNormApart,
		catalog.AllReduceNormTwoShot, catalog.AllReducePackets, catalog.AllGather} {
		var text []string
		for _, of.Invariant = range []bool{false, true} {
			p, err := lower.Lower("Bits", of)
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, hostir.Print(p))
		}
		if text[0] != text[1] {
			t.Errorf("%s\nand with equal bits\n%s", text[0], text[1])
		}
	}
}

// What sound checks, it notices where it is taken away.
func TestSound(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*hostir.Program)
	}{
		{"a stream that is not declared", func(p *hostir.Program) { p.Streams = p.Streams[:1] }},
		{"a semaphore that is not declared", func(p *hostir.Program) { p.Semaphores = nil }},
		{"a buffer that is not declared", func(p *hostir.Program) { p.Buffers = p.Buffers[1:] }},
		{"a post that nobody awaits", func(p *hostir.Program) {
			p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
				if w, ok := s.Signal(); ok && w.Wait {
					return nil
				}
				return []hostir.Node{s}
			})
		}},
	} {
		p, err := lower.Lower("X", catalog.AllGatherLinear)
		if err != nil {
			t.Fatal(err)
		}
		if test.spoil(p); sound(p) == nil {
			t.Errorf("%s is not noticed", test.name)
		}
	}
}

// sound refuses a program that names what it does not declare, or posts a word that none of its steps awaits.
func sound(p *hostir.Program) error {
	var errs []error
	declared := func(what, name string, ok bool) {
		if !ok {
			errs = append(errs, fmt.Errorf("the program does not declare the %s %s", what, name))
		}
	}
	posted, awaited := map[string]bool{}, map[string]bool{}
	hostir.Walk(p.Body, func(n hostir.Node) {
		for _, s := range hostir.Streams(n) {
			declared("stream", s.Set, slices.ContainsFunc(p.Streams, func(set hostir.StreamSet) bool {
				return set.Name == s.Set
			}))
		}
		n.With(hostir.Parts{
			Word: func(w hostir.Word) hostir.Word {
				declared("semaphore", w.Semaphore, slices.Contains(p.SemaphoreNames(), w.Semaphore))
				posted[w.Semaphore] = posted[w.Semaphore] || !w.Wait
				awaited[w.Semaphore] = awaited[w.Semaphore] || w.Wait
				return w
			},
			View: func(_ string, v hostir.View) hostir.View {
				_, ok := p.Buffer(v.Buffer)
				declared("buffer", v.Buffer, ok)
				return v
			}})
	})
	for _, name := range p.SemaphoreNames() {
		if !posted[name] || !awaited[name] {
			errs = append(errs, fmt.Errorf("%s is posted: %v, awaited: %v", name, posted[name], awaited[name]))
		}
	}
	return errors.Join(errs...)
}

// Ranks may post at the end that peers may overwrite memory that was read, and meet nobody there: the post stays.
func TestPostWithoutMeeting(t *testing.T) {
	copied := hostir.Set(hostir.Stream(hostir.MainStream), hostir.Whole("C"), hostir.Whole("A").At(hostir.Const(0)))
	read := hostir.Post(hostir.Stream(hostir.MainStream), hostir.ReadWord, hostir.Expr{})
	p := &hostir.Program{Body: hostir.MovesOf("C", copied, read),
		Edges: []hostir.Edge{{Of: "A", Steps: "C", Carrier: hostir.Carrier{Fused: true}}}}
	i := slices.IndexFunc(passes.All, func(x passes.Pass) bool { return x.Name == "signals" })
	if err := passes.All[i].Run(p); err != nil || len(p.Body) != 2 {
		t.Errorf("%v, %v", hostir.Print(p), err)
	}
}
