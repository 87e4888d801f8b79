package hostir

import "fmt"

// Call is work of the caller's own, which reads all of its operands: by a kernel where the launch has a file.
type Call struct {
	Name     string
	Operands []View
	To       View
	Launch   Launch
}

// CallOf is work of the caller's own, by a kernel where the launch has a file.
func CallOf(s StreamRef, name string, l Launch, dst View, operands ...View) Step {
	return Do(s, Call{Name: name, Operands: operands, To: dst, Launch: l})
}

// Kind is CallKind.
func (Call) Kind() Kind { return CallKind }

func (Call) work() {}

func (x Call) views() (reads, writes []View) { return x.Operands, some(x.To) }

func (x Call) with(p Parts) Work {
	x.To = p.view("destination", x.To)
	x.Operands = p.views("source", x.Operands)
	x.Launch = x.Launch.with(p)
	return x
}

func (x Call) check(s Step) error {
	if x.To.Buffer == "" || len(x.Operands) == 0 || x.Name == "" || s.By != "" {
		return fmt.Errorf("a call has a name, reads views and writes one, and nothing else carries it")
	}
	return plain(append(some(x.To), x.Operands...)...)
}

func (x Call) text() string {
	return called("Call "+x.Name, some(x.To), x.Operands) + x.Launch.String()
}
