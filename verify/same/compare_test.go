package same_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/same"
)

// TestCompareNotices: a program in which one thing is changed has the grade of that change.
func TestCompareNotices(t *testing.T) {
	copies := hostir.Stream("copy")
	is := func(what string) func(hostir.Node) bool { // the first line of a node begins so
		return func(n hostir.Node) bool {
			text := hostir.Print(&hostir.Program{Body: []hostir.Node{n}})
			return len(text) > 0 && slices.Contains(words(text), what)
		}
	}
	for _, test := range []struct {
		name string
		of   schedule.Schedule
		edit func(*hostir.Program)
		want same.Grade
	}{
		{"nothing", catalog.AllGatherLinear, func(*hostir.Program) {}, same.Same},
		{"other names", catalog.GatedMLP, func(p *hostir.Program) {
			p.Rename(map[string]string{"partial": "slots", "slots": "partial", "Agathered": "x"})
			p.Semaphores = slices.Clone(p.Semaphores)
			slices.Reverse(p.Semaphores)
		}, same.Same},
		{"words with each other's names", catalog.AllGatherLinear, func(p *hostir.Program) {
			p.Body = hostir.Map(p.Body, func(n hostir.Node) []hostir.Node {
				return []hostir.Node{n.With(hostir.Parts{Word: func(w hostir.Word) hostir.Word {
					w.Semaphore = map[string]string{"ready": "read", "read": "ready"}[w.Semaphore]
					return w
				}})}
			})
		}, same.Same},
		{"a stream of another name", catalog.AllGatherLinear, func(p *hostir.Program) { restream(p, "copy", "gets") },
			same.Same},
		{"steps swapped", catalog.GatedMLP, func(p *hostir.Program) {
			i := slices.IndexFunc(p.Body, is("Linear"))
			p.Body[i], p.Body[i+1] = p.Body[i+1], p.Body[i]
		}, same.Crossed},
		{"steps swapped that no path orders", catalog.AllGatherLinear, func(p *hostir.Program) {
			i := slices.IndexFunc(p.Body, is("Linear"))
			p.Body[i], p.Body[i+1] = p.Body[i+1], p.Body[i]
		}, same.Same},
		{"a wait for a stream left out", catalog.AllGatherLinear, func(p *hostir.Program) {
			p.Body = p.Body[:len(p.Body)-1]
		}, same.Looser},
		{"a wait for a stream more", catalog.AllGatherLinear, func(p *hostir.Program) {
			i := slices.IndexFunc(p.Body, is("Wait"))
			p.Body = slices.Insert(p.Body, i+1, hostir.Node(hostir.After(copies, hostir.Stream("main"))))
		}, same.Tighter},
		{"a post left out", catalog.AllGatherLinear, func(p *hostir.Program) {
			i := slices.IndexFunc(p.Body, is("Post"))
			p.Body = slices.Delete(p.Body, i, i+1)
		}, same.Other},
		{"copies of low priority", catalog.AllGatherLinear, func(p *hostir.Program) {
			p.Streams = slices.Clone(p.Streams)
			for i := range p.Streams {
				p.Streams[i].High = false
			}
		}, same.Crossed},
		{"more memory", catalog.AllGatherLinear, func(p *hostir.Program) {
			last := &p.Buffers[len(p.Buffers)-1]
			last.Elements = hostir.Mul(last.Elements, hostir.Const(2))
		}, same.Other},
		{"more words", catalog.AllGatherLinear, func(p *hostir.Program) {
			p.Semaphores[0].Count = hostir.Const(2)
		}, same.Other},
		{"memory that peers don't map", catalog.AllGatherLinear, func(p *hostir.Program) {
			for i := range p.Buffers {
				p.Buffers[i].Shared = false
			}
		}, same.Other},
		{"handles that are not exchanged", catalog.AllGatherLinear, func(p *hostir.Program) { p.Setup = nil },
			same.Other},
		{"no requirement on the shape", catalog.AllGatherLinear, func(p *hostir.Program) { p.Checks = nil },
			same.Other},
		{"by a kernel", catalog.AllGatherLinear, func(p *hostir.Program) {
			p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
				if s.Kind() == hostir.CopyKind {
					s.By = hostir.CopyKernel
				}
				return []hostir.Node{s}
			})
		}, same.Other},
		{"on one stream", catalog.AllGatherLinearNCCL, func(p *hostir.Program) { restream(p, "nccl", "main") },
			same.Same},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := lowered(t, test.of), lowered(t, test.of)
			test.edit(after)
			got, err := same.Compare(before, after, same.Cases(before, before, 1, 3, 4))
			if err != nil || got.Grade != test.want {
				t.Errorf("%s, %v, want %s:\n%s\n%s", got.Grade, err, test.want, got.Why, hostir.Print(after))
			}
		})
	}
}

// words are the names in a text.
func words(text string) (list []string) {
	var word []rune
	for _, r := range text + " " {
		if r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			word = append(word, r)
			continue
		}
		if len(word) > 0 {
			list = append(list, string(word))
		}
		word = nil
	}
	return list
}

// restream puts what is on streams of one name on those of another.
func restream(p *hostir.Program, from, to string) {
	p.Streams = slices.Clone(p.Streams)
	for i := range p.Streams {
		if p.Streams[i].Name == from {
			p.Streams[i].Name = to
		}
	}
	p.Body = hostir.Map(p.Body, func(n hostir.Node) []hostir.Node {
		return []hostir.Node{n.With(hostir.Parts{Stream: func(s hostir.StreamRef) hostir.StreamRef {
			if s.Set == from {
				s.Set = to
			}
			return s
		}})}
	})
}

func lowered(t *testing.T, s schedule.Schedule) *hostir.Program {
	t.Helper()
	p, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
