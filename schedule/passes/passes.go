package passes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Pass rewrites a program that the ways of its communications have written. It knows nothing beside the program.
type Pass struct {
	Name     string
	Sentence string   // that is true of the program behind it
	Needs    []string // passes that run before it
	Run      func(*hostir.Program) error
}

// All are all passes, in the order in which they run on every program.
var All = []Pass{
	{"declared", "tensors have the axes that are declared, and memory of the plan other names", nil, declared},
	{"padding", "steps on all ranks' rows take the padding of memory that has some", nil, padding},
	{"within", "a tensor that lies within another has the memory of that one", nil, within},
	{"atpeers", "formulas that alone read what kernels would copy from a peer read it there",
		[]string{"within"}, atPeers},
	{"scales", "scales lie as their rows do, travel with them, and products have them",
		[]string{"within", "atpeers"}, scales},
	{"handles", "ranks exchange the handles of shared memory once, before the first run", []string{"within", "scales"},
		handles},
	{"fewrows", "a kernel makes products of few rows where the schedule says so", []string{"scales"}, fewRows},
	{"ahead", "kernels of products read constant weights ahead of the end of the launch before", []string{"fewrows"},
		ahead},
	{"invariant", "the library of products adds in one order where the schedule says so", []string{"scales"},
		invariant},
	{"signals", "posts and waits stand where one launch can take them", nil, signals},
	{"kernels", "emitted kernels do the posts, waits and copies that a way gives them", []string{"signals"}, kernels},
	{"priorities", "kernels that pull operands do not outrank the products that they serve", []string{"kernels"},
		priorities},
	{"fuse", "steps around a copy or a sum are one launch", []string{"signals", "kernels"}, fuse},
	{"byblocks", "each block signals for itself where one launch signals another", []string{"fuse"}, byBlocks},
	{"rows", "one kernel makes functions of rows and further ones of these, beside packets where their way says so",
		[]string{"byblocks"}, rows},
	{"making", "kernels of products make the functions of each element of their results", []string{"fewrows", "rows"},
		making},
	{"origins", "each step names the field of the schedule that asks for it", []string{"handles", "fuse"}, origins},
	{"simplify", "index expressions are as a person writes them", []string{"scales"}, simplify},
	{"multiples", "New asks the shape for the multiples that the schedule states", nil, multiples},
	{"blocks", "kernels of the caller's own have a block at each shape", []string{"multiples"}, blocks},
}

// declared gives tensors that are written in rows and columns, and have other axes, those that are declared. It refuses
// memory of the plan that has the name of a tensor.
func declared(p *hostir.Program) error {
	seen := map[string]bool{}
	for k, b := range p.Buffers {
		i := slices.IndexFunc(p.Schedule.Tensors, func(t schedule.Tensor) bool { return t.Name == b.Name })
		if i >= 0 && len(b.Tensor.Axes) != len(p.Schedule.Tensors[i].Axes) {
			p.Buffers[k].Tensor.Axes = p.Schedule.Tensors[i].Axes
		}
		if i >= 0 && seen[b.Name] {
			return schedule.Refused(fmt.Sprintf("Tensors[%d].Name", i), "use another name",
				"the plan has memory of its own called %s", b.Name)
		}
		seen[b.Name] = true
	}
	return nil
}

// within gives a tensor that lies within another the memory of that one. A lowering says
// whether its programs stay free of races then, and the prover shows it.
func within(p *hostir.Program) error {
	for i, t := range p.Schedule.Tensors {
		if t.Within == "" {
			continue
		}
		path := fmt.Sprintf("Tensors[%d].Within", i)
		outer, _ := p.Schedule.Tensor(t.Within)
		place, _ := t.PlaceWithin(outer)
		switch {
		case readAtOnce(p, t, outer):
			return schedule.Refused(path, "leave it out",
				"a kernel reads %s and %s at once, and one memory has one of them", t.Name, t.Within)
		case place == schedule.AllOf && readBeside(p, t.Name, t.Within):
			return schedule.Refused(path, "leave it out",
				"other streams read %s, for peers or for products, while %s is made there", t.Within, t.Name)
		}
		for _, x := range [][2]string{{t.Name, t.Within}, {t.Within, t.Name}} {
			if by := readBehind(p.Schedule, x[0], x[1]); by != "" {
				return schedule.Refused(path, "leave it out",
					"%s is made of %s too, behind %s, which replaces a part of it", by, x[1], x[0])
			}
		}
		in, _ := p.Buffer(t.Name)
		if of, _ := p.Buffer(t.Within); in.Rows.IsZero() != of.Rows.IsZero() {
			return schedule.Refused(path, "leave it out",
				"parts of the columns of %s or of %s travel, and the other lies row by row", t.Within, t.Name)
		}
		if err := p.Merge(t.Name, t.Within); err != nil {
			hint, uncut := "leave it out", schedule.WaysThat(func(f schedule.Facts) bool { return f.AllRows })
			if place == schedule.AllOf {
				hint += ", or sum for all ranks by " + uncut + ", which does not cut the result"
			}
			return schedule.Refused(path, hint, "%s", err.Error())
		}
	}
	return nil
}

// readBehind is the result of an operation that reads a tensor behind one that has made another in its place, which is
// no copy of it; empty: none.
func readBehind(s schedule.Schedule, made, read string) string {
	i := slices.IndexFunc(s.Ops, func(o schedule.Op) bool { return o.Out == made })
	if i < 0 || s.Ops[i].Copies() && s.Ops[i].In[0] == read {
		return ""
	}
	for _, o := range s.Ops[i+1:] {
		if o.Reads(read) {
			return o.Out
		}
	}
	return ""
}

// readAtOnce says that a step reads a tensor and all of another one that has its place.
func readAtOnce(p *hostir.Program, t, outer schedule.Tensor) (both bool) {
	place, _ := t.PlaceWithin(outer)
	hostir.Steps(p.Body, func(s hostir.Step) {
		reads, _ := s.Views()
		both = both || place == schedule.AllOf && among(reads, t.Name) && among(reads, outer.Name)
	})
	return both
}

// among says that one of some views is of a buffer.
func among(views []hostir.View, buffer string) bool {
	return slices.ContainsFunc(views, func(v hostir.View) bool { return v.Buffer == buffer })
}

// readBeside says that copies for peers read a tensor on another stream than that on which a call makes a result in its
// memory, or products of other streams than that on which the products of a gradient add to it.
func readBeside(p *hostir.Program, result, tensor string) (beside bool) {
	var makes, reads []hostir.Step
	hostir.Steps(p.Body, func(s hostir.Step) {
		from, to := s.Views()
		if among(to, result) {
			makes = append(makes, s)
		}
		if among(from, tensor) {
			reads = append(reads, s)
		}
	})
	for _, m := range makes {
		_, calls := m.Do.(hostir.Call)
		x, _ := m.Do.(hostir.Product)
		for _, r := range reads {
			_, copies := r.Do.(hostir.Copy)
			_, multiplies := r.Do.(hostir.Product)
			apart := m.Stream.String() != r.Stream.String()
			beside = beside || apart && (calls && copies && r.Remote() || x.Index == hostir.Gradient && multiplies)
		}
	}
	return beside
}

// handles exchanges IPC handles once, before the first run, unless a way exchanges them in each run: those of the
// caller's memory that peers read, and of the arena, which has all else.
func handles(p *hostir.Program) error {
	hostir.Steps(p.Body, func(s hostir.Step) {
		reads, _ := s.Views()
		for _, v := range reads {
			b := p.At(v.Buffer)
			b.Shared = b.Shared || b.Owner == hostir.Caller && !v.Peer.IsZero()
		}
	})
	inRun := false
	hostir.Walk(p.Body, func(n hostir.Node) {
		_, shares := n.(hostir.Share)
		inRun = inRun || shares
	})
	if inRun {
		return nil
	}
	var shared []string
	for _, b := range p.Buffers {
		if b.Shared {
			shared = append(shared, b.Name)
		}
	}
	if len(shared)+len(p.Semaphores) == 0 {
		return nil // no rank reaches another's memory
	}
	once := hostir.Origin{Remark: "once", Field: hostir.HandlesField}
	p.Setup = append(p.Setup, hostir.Share{Origin: once, Buffers: append(shared, "arena")})
	return nil
}

// priorities lowers kernels that pull operands: above the products they delayed the small products that they serve.
func priorities(p *hostir.Program) error {
	operands, pulls := map[string]bool{}, map[string]bool{} // buffers, and sets of streams
	hostir.Steps(p.Body, func(s hostir.Step) {
		if x, multiplies := s.Do.(hostir.Product); multiplies {
			operands[x.A.Buffer], operands[x.B.Buffer] = true, true
		}
	})
	hostir.Steps(p.Body, func(s hostir.Step) {
		to := ""
		switch x := s.Do.(type) {
		case hostir.Copy:
			if s.By != "" && !x.From.Peer.IsZero() {
				to = x.To.Buffer
			}
		case hostir.Gather:
			to = x.To.Buffer
		case hostir.PacketGather:
			to = x.To.Buffer
		}
		pulls[s.Stream.Set] = pulls[s.Stream.Set] || operands[to]
	})
	for i := range p.Streams {
		set := &p.Streams[i]
		set.High = set.High && !pulls[set.Name]
	}
	return nil
}

// simplify writes every expression of the program as a person would.
func simplify(p *hostir.Program) error {
	simple := func(_ string, e hostir.Expr) hostir.Expr { return e.Simplify() }
	p.Body = hostir.Rewrite(p.Body, hostir.Parts{Expr: simple})
	for i, b := range p.Buffers {
		b.Elements, b.Chunk = b.Elements.Simplify(), b.Chunk.Simplify()
		b.Counts, b.Room, b.Rows = b.Counts.Simplify(), b.Room.Simplify(), b.Rows.Simplify()
		p.Buffers[i] = b
	}
	for i, s := range p.Semaphores {
		p.Semaphores[i].Count = s.Count.Simplify()
	}
	for i, s := range p.Streams {
		p.Streams[i].First, p.Streams[i].Count = s.First.Simplify(), s.Count.Simplify()
	}
	return nil
}

// multiples asks of the shape that extents are the multiples that the schedule states.
func multiples(p *hostir.Program) error {
	for _, e := range slices.Sorted(maps.Keys(p.Schedule.Multiples)) {
		m, _ := schedule.ParseMultiple(p.Schedule.Multiples[e]) // Validate has read it
		p.Ask(divide(e, m))
	}
	return nil
}

// divide is a stated multiple as a requirement on the shape.
func divide(e schedule.Extent, m schedule.Multiple) hostir.Divide {
	check := hostir.Divide{Extent: e, By: schedule.Extent(strconv.FormatInt(m.Times, 10))}
	if m.D {
		check.By, check.Times = schedule.D, m.Times
	}
	if m.W {
		check.Heads = schedule.W
	}
	return check
}
