package mutate

import (
	"slices"

	"ovgen/schedule/hostir"
)

// sharedWords replaces two semaphores by one.
func (m *maker) sharedWords() {
	names := m.program.SemaphoreNames()
	for i, keep := range names {
		for _, drop := range names[i+1:] {
			m.body("share a word", keep+" is "+drop+" too",
				hostir.Rewrite(m.program.Body, hostir.Parts{Word: func(w hostir.Word) hostir.Word {
					if w.Semaphore == drop {
						w.Semaphore = keep
					}
					return w
				}}))
		}
	}
}

// acknowledgement leaves out all uses of one semaphore, and steps that do nothing else.
func (m *maker) acknowledgement() {
	for _, name := range m.program.SemaphoreNames() {
		m.body("drop the acknowledgement", name, hostir.Without(m.program.Body, name))
	}
}

// slots gives all steps one slice of a buffer of the plan.
func (m *maker) slots() {
	for _, b := range m.program.Buffers {
		if b.Owner != hostir.Plan {
			continue
		}
		one := func(_ string, v hostir.View) hostir.View {
			if v.Buffer == b.Name && !v.Index.IsZero() {
				v.Index = hostir.Const(0)
			}
			return v
		}
		m.body("reuse a buffer early", "one slice of "+b.Name+" for all steps",
			hostir.Rewrite(m.program.Body, hostir.Parts{View: one}))
	}
}

// halves lets all runs use one half of a landing that has two in turn: the operations of a run are the same.
func (m *maker) halves() {
	for i, b := range m.program.Buffers {
		if b.Lands.Halves < 2 {
			continue
		}
		p := *m.program
		p.Buffers = slices.Clone(p.Buffers)
		p.Buffers[i].Lands.Halves = 1
		x := Mutant{Schedule: p.Name, Kind: "reuse a buffer early", Text: "one half of " + b.Name + " for all runs"}
		for _, d := range sizes(&p) {
			x.Cases = append(x.Cases, CaseOf(&p, shapeOf(&p, d), m.right[d]))
		}
		m.list = append(m.list, x)
	}
}
