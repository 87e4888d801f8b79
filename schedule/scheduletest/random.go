package scheduletest

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"ovgen/schedule"
)

// Drawn is a schedule that was made from another.
type Drawn struct {
	schedule.Schedule
	From  schedule.Schedule
	Items []string // the paths of the items that were drawn or changed
}

// Random draws a schedule of the list, changes one item in one of ten, and draws a way with
// options: a way for a tensor that is spread over the ranks or for partial sums, of all ways
// for the one or the other, each option set one time in three; over hosts one time in two the way
// of these. Of a chain of operations NCCL does one move in three, and one time in two there is a second move. Where a
// move is by tiles the types are mostly the two that tiles have.
func Random(r *rand.Rand, of []schedule.Schedule) Drawn {
	d := draw(r, of)
	if slices.ContainsFunc(d.Moves, byTiles) && r.IntN(10) > 0 {
		d.Types = []schedule.Type{schedule.BF16, schedule.FP16}
	}
	return d
}

// byTiles says that a move is by tiles.
func byTiles(m schedule.Move) bool {
	_, tiles := m.Way.(schedule.Tiles)
	return tiles
}

// draw is Random whatever the types.
func draw(r *rand.Rand, of []schedule.Schedule) Drawn {
	from := Clone(of[r.IntN(len(of))])
	from.Moves = nil
	d := Drawn{Schedule: from, From: from}
	if r.IntN(10) == 0 {
		c := OneOf(r, from)
		d.Schedule, d.Items = c.Schedule, []string{c.Item()}
	}
	if len(d.Tensors) == 0 {
		return d
	}
	name, sums := travels(r, d.Schedule)
	way := Way(r, sums)
	if d.OverHosts() && r.IntN(2) == 0 {
		way = schedule.Rails{}
	}
	d.Moves, d.Items = []schedule.Move{{Of: name, Way: way}}, append(d.Items, "Moves[0]")
	if len(d.Ops) == 1 {
		return d
	}
	if other, sums := travels(r, d.Schedule); other != name && r.IntN(2) == 0 {
		d.Moves, d.Items = append(d.Moves, schedule.Move{Of: other, Way: Way(r, sums)}), append(d.Items, "Moves[1]")
	}
	for i := range d.Moves {
		if r.IntN(3) == 0 {
			d.Moves[i].Way = schedule.NCCL{}
		}
	}
	return d
}

// travels is a tensor that may have to travel, or a result of partial sums.
func travels(r *rand.Rand, s schedule.Schedule) (of string, sums bool) {
	var operands, results []string
	for _, o := range s.Ops {
		if s.Partial(o) {
			results = append(results, o.Out)
			continue
		}
		for _, in := range o.In {
			t, _ := s.Tensor(in)
			maker, made := s.Maker(in)
			_, _, sharded := t.Sharded()
			copied := made && len(maker.In) == 1 // which lies as its operand does
			if (sharded || t.Root || copied) && !slices.Contains(operands, in) {
				operands = append(operands, in)
			}
		}
	}
	if len(operands)+len(results) == 0 {
		return s.Tensors[r.IntN(len(s.Tensors))].Name, r.IntN(2) == 0
	}
	i := r.IntN(len(operands) + len(results))
	if i < len(operands) {
		return operands[i], false
	}
	return results[i-len(operands)], true
}

// Way is one of all ways for partial sums, or for tensors that travel, each of its options set
// one time in three.
func Way(r *rand.Rand, sums bool) schedule.Way {
	ways := slices.DeleteFunc(schedule.Ways(), func(w schedule.Way) bool {
		return sums && !schedule.Sums(w) || !sums && !schedule.Travels(w)
	})
	w := ways[r.IntN(len(ways))]
	x := reflect.New(reflect.TypeOf(w)).Elem()
	for i := range x.NumField() {
		if r.IntN(3) == 0 {
			list := values(w, x.Type().Field(i).Name)
			x.Field(i).Set(list[r.IntN(len(list))])
		}
	}
	return x.Interface().(schedule.Way)
}
