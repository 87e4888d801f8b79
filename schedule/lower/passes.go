package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Pass rewrites a program that the ways of its communications have written. It knows nothing beside the program.
type Pass struct {
	Name     string
	Sentence string   // of what the program has behind it
	Needs    []string // passes that run before it
	Run      func(*hostir.Program) error
}

// Passes are all passes, in the order in which they run on every program.
var Passes = []Pass{
	{"within", "a tensor that lies within another has the memory of that one", nil, within},
	{"handles", "ranks exchange the handles of shared memory once, before the first run", []string{"within"}, handles},
	{"signals", "posts and waits stand where one launch can take them", nil, signals},
	{"kernels", "emitted kernels do the posts, waits and copies that a way gives them", []string{"signals"}, kernels},
	{"priorities", "kernels that pull operands do not outrank the products that they serve", []string{"kernels"},
		priorities},
	{"fuse", "steps around a copy or a sum are one launch", []string{"signals", "kernels"}, fuse},
	{"byblocks", "each block signals for itself where one launch signals another", []string{"fuse"}, byBlocks},
	{"origins", "each step names the field of the schedule that asks for it", []string{"handles", "fuse"}, origins},
	{"simplify", "index expressions are as a person writes them", nil, simplify},
	{"multiples", "New asks the shape for the multiples that the schedule states", nil, multiples},
	{"blocks", "kernels of the caller's own have a block at each shape", []string{"multiples"}, blocks},
}

// Written is how a program begins, before all passes.
var Written = Pass{Name: "ways", Sentence: "the program is as the ways of its communications write it"}

// Behind lowers a schedule as Lower does. It calls seen with the program as it is written, and then behind each pass;
// the program changes afterwards.
func Behind(name string, s schedule.Schedule, seen func(Pass, *hostir.Program)) (*hostir.Program, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p, err := write(name, s)
	if err != nil {
		return nil, s.AsDeclared(err)
	}
	seen(Written, p)
	for _, pass := range Passes {
		if err := pass.Run(p); err != nil {
			return nil, s.AsDeclared(err)
		}
		seen(pass, p)
	}
	return p, nil
}
