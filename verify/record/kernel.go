package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/verify/ops"
	"ovgen/verify/touch"
)

// kind is the recorder's knowledge of an emitted kernel beyond its touches.
type kind struct {
	sum      bool // its result is the sum of all its reads
	widens   bool // it keeps that sum in fp32
	function bool // it applies the function in its driver.Kernel to all its reads; operands and result may be of fp32
	oneBlock bool // it is correct with one block only
	waits    bool // each of its blocks awaits its words, one thread a word
	posts    bool // it posts its words, one thread a word
	gathers  bool // it makes a copy for each tensor that it reads
	tiles    bool // its launch has a beginning, a part for each shard, and an end
	once     bool // all of its blocks must run at the same time
	groups   bool // each part of its launch stands once for each group of tiles, and no two groups share words
	call     bool // it is the caller's kernel, and the name of the call follows
	spreads  bool // it sends the sum of its packets to all ranks, and copies the sums that land
	rows     bool // it makes rows by its function, sends what that makes, and copies what lands
	product  bool // it multiplies rows by a weight, and may add a bias
	narrow   bool // the weight has eight bits, and its scales follow it
	squares  bool // these are of squares
	packets  bool // it sends packets, a copy to each peer, and adds up or copies the packets that land
}

// kinds has the kind of each kernel, by the first part of its name; the templates of kernels say how each is launched.
var kinds = map[string]kind{
	"wait":   {oneBlock: true, waits: true},
	"post":   {oneBlock: true, posts: true},
	"copy":   {},
	"reduce": {sum: true},
	"widen":  {sum: true, widens: true},
	"get":    {waits: true},
	"put":    {waits: true},
	"shot":   {waits: true, sum: true},
	"gather": {waits: true, gathers: true},
	"tiles":  {waits: true, tiles: true},

	"scatter": {waits: true, tiles: true, sum: true, once: true, groups: true},

	"fewrows": {product: true},
	"narrow":  {product: true, narrow: true},
	"squares": {product: true, narrow: true, squares: true},

	"packets":      {packets: true},
	"packetgather": {packets: true, gathers: true},
	"packetspread": {packets: true, spreads: true},
	"packetrows":   {packets: true, gathers: true, rows: true},
	"push":         {packets: true},

	"elements": {function: true},
	"groups":   {function: true},

	"call": {call: true},
}

// launch is one launch of a kernel.
type launch struct {
	kernel      driver.Kernel
	grid, block driver.Dim3
	touches     []touch.Touch
	words       []uint64 // of the parameters
	made        []ops.Op // its operations, found with these regions and this type
	regions     plan.Regions
	typ         driver.Type
}

// again returns the operations of the launch. It finds them once for as long as addresses have the same names.
func (l *launch) again(n *Names, o ops.Op) ([]ops.Op, error) {
	if l.made == nil || l.typ != n.Type || !slices.Equal(l.regions, n.Regions) {
		list, err := l.operations(n, o)
		if err != nil {
			return nil, err
		}
		l.made, l.regions, l.typ = list, n.Regions, n.Type
	}
	list := slices.Clone(l.made)
	for i := range list {
		list[i].Stream, list[i].Step = o.Stream, o.Step
	}
	return list, nil
}

// threads is the greatest number of threads of a block; multiprocessors is the number on the simulated device.
const threads, multiprocessors = 1024, 132

// blocks returns the operations of the launch. All blocks do the operations together, or each block does them on its
// part. In the second case it returns the operations of the first block, on the parts of all blocks.
func (l *launch) blocks(n *Names, o ops.Op, k kind) ([]ops.Op, error) {
	if k.tiles {
		o.AtOnce, o.ByBlocks = k.once, k.groups
		return l.parts(n, o, k)
	}
	if len(l.touches) == 0 || l.touches[0].Block == 0 {
		return l.split(n, o, k)
	}
	touches := make([][]touch.Touch, l.grid.X)
	each := len(l.touches)/len(touches) + 1
	for _, t := range l.touches {
		if t.Block < 1 || t.Block > len(touches) {
			return nil, fmt.Errorf("it has %d blocks, and its parameters name block %d", len(touches), t.Block)
		}
		if to := &touches[t.Block-1]; *to == nil {
			*to = make([]touch.Touch, 0, each)
		}
		touches[t.Block-1] = append(touches[t.Block-1], t)
	}
	o.ByBlocks = true
	var whole []ops.Op
	used := map[ops.Loc]bool{} // words
	for block, touches := range touches {
		one := *l
		one.touches = touches
		list, err := one.split(n, o, k)
		if err == nil && block == 0 {
			whole = list
			for _, o := range list {
				for _, w := range o.Words {
					used[w.At] = true
				}
			}
		} else if err == nil {
			err = together(whole, list, used)
		}
		if err != nil {
			return nil, fmt.Errorf("block %d of %d: %w", block, l.grid.X, err)
		}
	}
	return whole, nil
}

// together adds a block's operations to the operations of earlier blocks. The block must have equally many operations
// of the same kinds, the next part of each use, and words that no earlier block has, all at one distance from the first
// block's.
func together(whole, list []ops.Op, used map[ops.Loc]bool) error {
	if len(list) != len(whole) {
		return fmt.Errorf("it does %d operations, and the first block %d", len(list), len(whole))
	}
	apart := int64(0)
	for i := range list {
		to, from := &whole[i], &list[i]
		words := slices.DeleteFunc(slices.Clone(to.Words), func(w ops.Word) bool { return ops.IsStep(w.At) })
		if from.Kind != to.Kind || len(from.Words) != len(words) ||
			len(from.Uses) != len(to.Uses) && len(from.Uses) > 0 {
			return fmt.Errorf("it does\n\t%s\nand the first block\n\t%s", from, to)
		}
		for j, w := range from.Words {
			first := words[j]
			if apart == 0 {
				apart = w.At.Offset - first.At.Offset
			}
			first.At.Offset += apart
			if apart <= 0 || w != first || used[w.At] && (j == 0 || w.At != from.Words[j-1].At) {
				return fmt.Errorf("its word %s is not one of its own where the first block has %s", w, words[j])
			}
			used[w.At] = true
		}
		for j, u := range from.Uses {
			next := to.Uses[j]
			if !eachRow(from.LiesOf(j)) {
				if u != next {
					return fmt.Errorf("it reads %s, and the first block %s", u, next)
				}
				continue
			}
			next.At.Offset += next.Bytes
			again := next.At.Offset - u.At.Offset
			if from.LiesOf(j) == schedule.ByRow && 0 < again && again <= driver.FP32.Size() {
				next.At.Offset = u.At.Offset // of the row in which the block before ends
			}
			if u.At != next.At || u.Write != next.Write {
				return fmt.Errorf("its part is %s, and those before it end at %s", u, next.At)
			}
			to.Uses[j].Bytes = u.At.Offset + u.Bytes - to.Uses[j].At.Offset
		}
	}
	return nil
}

// eachRow reports whether an operand of a function with this layout has a part for each row.
func eachRow(l schedule.Lies) bool { return l != schedule.ByColumn && l != schedule.ByHead }

// check refuses a grid and a block with which the kernel is not correct.
func (l *launch) check(k kind) error {
	words := 0
	for _, t := range l.touches {
		if t.Kind == touch.Read {
			break // one thread does everything after the work
		}
		if k.waits && t.Kind == touch.Wait || k.posts && t.Kind == touch.Post {
			words++
		}
	}
	few, _ := l.kernel.Row.(fewrows.Row)
	boxes := few.Boxes
	switch {
	case l.grid.Y != 1 || l.grid.Z != 1 || l.block.Y != 1 || l.block.Z != 1:
		return errors.New("grid and block have one dimension")
	case l.grid.X < 1 || l.block.X < 1 || l.block.X > threads:
		return fmt.Errorf("a grid has a block, and a block 1 to %d threads", threads)
	case k.oneBlock && l.grid.X != 1:
		return errors.New("it is right with one block only")
	case k.tiles && (l.block.X != tileThreads || int(l.grid.X)%max(1, l.kernel.Cluster) != 0):
		return fmt.Errorf("a block that makes tiles has %d threads, and a grid whole clusters", tileThreads)
	case k.product && (l.block.X != fewThreads[boxes] || boxes && int(l.grid.X)%max(1, l.kernel.Cluster) != 0):
		return fmt.Errorf("a block that multiplies few rows has %d threads, and a grid whole clusters",
			fewThreads[boxes])
	case k.once && l.grid.X > multiprocessors:
		return fmt.Errorf("its blocks must run at the same time, and %d have no room on %d multiprocessors", l.grid.X,
			multiprocessors)
	case int(l.block.X) < words:
		return fmt.Errorf("%d words, and a thread for each is needed", words)
	}
	return nil
}

// fewThreads are the threads of a block that multiplies few rows, by whether it reads them from boxes.
var fewThreads = map[bool]uint32{false: 256, true: 192}

// operations lists the operations of one kernel: posts and waits before its work, the work, posts and waits after it;
// the waits have their resets. A kernel without work is one operation. Any other kernel has one operation for each of
// the five phases that it has.
func (l *launch) operations(n *Names, o ops.Op) ([]ops.Op, error) {
	name, rest, _ := strings.Cut(l.kernel.Name, "_") // the rest is the element type, after the name of a call
	for of := range kinds {                          // reduce2 is another kernel of the kind reduce
		if number, ok := strings.CutPrefix(name, of); ok && strings.Trim(number, "0123456789") == "" {
			name = of
			break
		}
	}
	k, known := kinds[name]
	if !known {
		return nil, fmt.Errorf("the recorder does not know kernel %s", l.kernel.Name)
	}
	if err := l.check(k); err != nil {
		return nil, fmt.Errorf("kernel %s, grid %v, block %v: %w", name, l.grid, l.block, err)
	}
	o.Early = l.kernel.Early && l.kernel.Ahead // others are like plain launches, as touch.Awaits has seen
	if o.Kernel = name; k.call {
		o.Kernel, o.Launch = "", l.called()
		o.Form, _, _ = strings.Cut(rest, "_")
	}
	list, err := l.blocks(n, o, k)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	return list, nil
}

func (l *launch) split(n *Names, o ops.Op, k kind) ([]ops.Op, error) {
	if k.spreads {
		return l.spread(n, o, k)
	}
	if k.rows {
		return l.sentRows(n, o, k)
	}
	if k.packets {
		return l.packets(n, o, k)
	}
	p := phases{names: n, kind: k, finishes: l.kernel.Finish != "", opens: o, work: o, posts: o}
	p.work.Kind = ops.Copy
	if k.sum {
		p.work.Kind = ops.Sum
	}
	if k.function {
		p.work.Kind = ops.Apply
	}
	if k.product {
		p.work.Kind = ops.Product
		p.work.Form, _, _ = strings.Cut(l.kernel.Form, kernels.Joint)
	}
	if k.narrow {
		p.work.Scales, p.work.InBlocks = 1, k.squares
	}
	if k.call {
		p.work.Kind = ops.Call
	}
	for _, t := range l.touches {
		if err := p.take(t); err != nil {
			return nil, err
		}
	}
	if weight := p.work.Factors().B; weight != nil {
		weight.Ahead = o.Early
	}
	list, err := p.list(o)
	if k.product && err == nil {
		return l.products(p.work), nil
	}
	for i := range list {
		if list[i].Kind == ops.Sum {
			l.finish(&list[i])
		}
	}
	if i := slices.IndexFunc(list, func(o ops.Op) bool { return o.Kind == ops.Apply }); i >= 0 {
		list = slices.Concat(list[:i], l.formulas(list[i], o.Kernel), list[i+1:])
	}
	return list, err
}
