package same

import (
	"fmt"
	"maps"
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// reading is a program with its operations in each case: by case, by rank.
type reading struct {
	program *hostir.Program
	cases   []ops.Case
	units   [][][]unit
	ids     map[string]uint64 // what stands for a name: alike in both programs for names that belong together
	free    []string          // names that the program chose: memory of the plan, and semaphores
}

// read unrolls a program in each case.
func read(p *hostir.Program, cases []ops.Case) (*reading, error) {
	r := &reading{program: p, cases: cases, ids: map[string]uint64{}}
	for _, c := range cases {
		lists, err := c.Unroll(p)
		if err != nil {
			return nil, err
		}
		var units [][]unit
		for _, list := range lists {
			units = append(units, unitsOf(list))
		}
		r.units = append(r.units, units)
	}
	for _, b := range p.Buffers {
		about, err := r.memory(b)
		if err != nil {
			return nil, err
		}
		r.ids[b.Name] = hashed(about)
		if b.Owner == hostir.Plan {
			r.free = append(r.free, b.Name)
		} else {
			r.ids[b.Name] = hashed(about, b.Name)
		}
	}
	for _, s := range p.Semaphores {
		members, err := r.each(s.Count)
		if err != nil {
			return nil, err
		}
		r.ids[s.Name] = hashed("words", members)
		r.free = append(r.free, s.Name)
	}
	return r, nil
}

// memory is all that a buffer is beside its name and the unit in which views count.
func (r *reading) memory(b hostir.Buffer) (string, error) {
	elements, err := r.each(b.Elements)
	if err != nil {
		return "", err
	}
	room, err := r.each(b.Room)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(b.Owner, b.Shared, b.Inner, b.Tensor.Type, elements, room, b.Lands.Flags != "", b.Lands.Words,
		b.Lands.Halves), nil
}

// each is the value of an expression in each case on each rank; nil where it is absent.
func (r *reading) each(e hostir.Expr) (list []int64, err error) {
	if e.IsZero() {
		return nil, nil
	}
	for _, c := range r.cases {
		for rank := range c.Ranks {
			env := c.At(rank).Env(r.program)
			env["q"], env["c"] = 0, 0
			x, err := e.Eval(env)
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
	}
	return list, nil
}

// refine tells names apart by the units that use them, until that tells no more apart; waits also by what they keep
// waiting where ahead is set.
func (r *reading) refine(ahead bool) {
	for before := 0; ; {
		found := map[uint64]bool{}
		for _, name := range r.free {
			found[r.ids[name]] = true
		}
		if len(found) == before {
			return
		}
		before = len(found)
		sums := map[string]uint64{}
		for i := range r.cases {
			for rank, units := range r.units[i] {
				for n := range units {
					key := r.key(&units[n])
					if ahead && units[n].waits() {
						key = hashed(key, r.key(next(units, n)))
					}
					r.places(&units[n], func(nth int, at ops.Loc) {
						sums[at.Buffer] += hashed(key, i, rank, nth, at.Rank, at.Offset)
					})
				}
			}
		}
		for _, name := range r.free {
			r.ids[name] = hashed(r.ids[name], sums[name])
		}
	}
}

// next is the first unit behind another on its stream that works; the last one of the run if there is none.
func next(units []unit, n int) *unit {
	for i := n + 1; i < len(units); i++ {
		if units[i].stream() == units[n].stream() && units[i].works() {
			return &units[i]
		}
	}
	return &units[len(units)-1]
}

// places calls f for each place that a unit names, but for those of its stream.
func (r *reading) places(u *unit, f func(nth int, at ops.Loc)) {
	nth := 0
	call := func(at ops.Loc) {
		if nth++; !ops.OfStream(at) {
			f(nth, at)
		}
	}
	for _, o := range u.list {
		for _, w := range o.Words {
			call(w.At)
		}
		for _, use := range o.Uses {
			call(use.At)
		}
	}
}

// key stands for all that a unit does, wherever and whenever it does it.
func (r *reading) key(u *unit) uint64 {
	h := start
	for _, o := range u.list {
		h = h.add(o.Kind, o.Form, fmt.Sprint(o.Columns, o.Heads), o.Launch, o.Accumulate, o.Kernel, o.ByBlocks, o.Part,
			o.AtOnce,
			o.Count.Buffer != "", o.To, o.From)
		at := func(at ops.Loc) uint64 { return uint64(start.add(at.Rank, r.ids[at.Buffer], at.Offset)) }
		for _, w := range o.Words {
			if !ops.IsStep(w.At) {
				h = h.add("word", w.Write, w.Value, at(w.At))
			}
		}
		for _, use := range o.Uses {
			if !ops.IsWorkspace(use.At) {
				h = h.add("use", use.Write, use.Bytes, use.Columns, at(use.At))
			}
		}
	}
	return uint64(h)
}

// pair gives names of two programs that belong together one id, and says which names have no counterpart. Of names that
// are used alike those belong together whose waits keep the same waiting.
func pair(a, b *reading) (alone []string) {
	a.refine(false)
	b.refine(false)
	first, second := maps.Clone(a.ids), maps.Clone(b.ids)
	a.refine(true)
	b.refine(true)
	left := slices.Clone(b.free)
	take := func(name string, closely bool) (other string, found bool) {
		i := slices.IndexFunc(left, func(other string) bool {
			return first[name] == second[other] && (!closely || a.ids[name] == b.ids[other])
		})
		if i < 0 {
			return "", false
		}
		other = left[i]
		left = slices.Delete(left, i, i+1)
		return other, true
	}
	pairs := map[string]string{}
	for _, closely := range []bool{true, false} {
		for _, name := range a.free {
			if pairs[name] != "" {
				continue
			}
			if other, found := take(name, closely); found {
				pairs[name] = other
			}
		}
	}
	for n, name := range a.free {
		if pairs[name] == "" {
			alone = append(alone, name+" of the one")
			continue
		}
		a.ids[name], b.ids[pairs[name]] = hashed("pair", n), hashed("pair", n)
	}
	for _, name := range left {
		alone = append(alone, name+" of the other")
	}
	return alone
}

// hash is a running FNV-1a of 64 bits.
type hash uint64

const start = hash(14695981039346656037)

// add adds values, numbers and truths directly.
func (h hash) add(values ...any) hash {
	for _, v := range values {
		switch v := v.(type) {
		case uint64:
			h = h.number(v)
		case int64:
			h = h.number(uint64(v))
		case int:
			h = h.number(uint64(v))
		case bool:
			if h = h.number(2); v {
				h = h.number(1)
			}
		case ops.Kind:
			h = h.number(uint64(v))
		case string:
			for i := range len(v) {
				h = (h ^ hash(v[i])) * 1099511628211
			}
			h = h.number(uint64(len(v)))
		default:
			h = h.add(fmt.Sprint(v))
		}
	}
	return h
}

func (h hash) number(x uint64) hash {
	for range 8 {
		h = (h ^ hash(x&0xff)) * 1099511628211
		x >>= 8
	}
	return h
}

func hashed(values ...any) uint64 { return uint64(start.add(values...)) }
