package hostir

import "fmt"

// Call is the caller's work, which reads all of its operands. A kernel does it where the launch has a file.
type Call struct {
	Name     string
	Operands []View
	To       View
	// Scales is where it writes the scales of a result of eight bits.
	Scales View
	Launch Launch
}

// CallOf is a step with the caller's work, by a kernel where the launch has a file.
func CallOf(s StreamRef, name string, l Launch, dst View, operands ...View) Step {
	return Do(s, Call{Name: name, Operands: operands, To: dst, Launch: l})
}

// Kind is CallKind.
func (Call) Kind() Kind { return CallKind }

func (Call) asks() string { return OpsField }

func (x Call) views() (reads, writes []View) { return x.Operands, some(x.To, x.Scales) }

func (x Call) result() View { return x.To }

func (x Call) with(p Parts) Work {
	x.To, x.Scales = p.view("destination", x.To), p.view("scales", x.Scales)
	x.Operands = p.views("source", x.Operands)
	x.Launch = x.Launch.with(p)
	return x
}

func (x Call) check(s Step) error {
	if x.To.Buffer == "" || len(x.Operands) == 0 || x.Name == "" || s.By != "" {
		return fmt.Errorf("a call has a name, reads views and writes one, and nothing else carries it")
	}
	return plain(append(some(x.To, x.Scales), x.Operands...)...)
}

func (x Call) text() string {
	return called("Call "+x.Name, some(x.To, x.Scales), x.Operands) + x.Launch.String()
}
