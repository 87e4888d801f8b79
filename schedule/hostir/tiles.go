package hostir

import (
	"fmt"
	"strings"
)

// Tile says how a kernel makes a product by tiles of 128 rows.
type Tile struct {
	Columns  int  // columns of a tile
	Cluster  int  // blocks that share copies of the second operand
	Together bool // two warpgroups make half of each tile, instead of a tile each in turn
}

// String is 112 for tiles of 112 columns that warpgroups make in turn, 112/2 where two blocks share copies, and 112/2
// together.
func (t Tile) String() string {
	name := fmt.Sprint(t.Columns)
	if t.Cluster > 1 {
		name += fmt.Sprintf("/%d", t.Cluster)
	}
	if t.Together {
		name += " together"
	}
	return name
}

// tileNames prints alternative tiles, from which the shape selects one.
func tileNames(list []Tile) string {
	var names []string
	for _, t := range list {
		names = append(names, t.String())
	}
	return strings.Join(names, "|")
}

// Tiles is a linear of all ranks' rows in one launch: the kernel multiplies this rank's shard, pulls the peers' shards,
// and multiplies each shard when it is there.
type Tiles struct {
	Tiles    []Tile // one tile, or several: the shape selects the one with the least work for each multiprocessor
	Own      View   // this rank's shard
	Shards   View   // the peers' shards, in the order of their tiles
	B        View   // the second operand
	Bias     View   // none where it has no buffer
	To       View   // all results
	Gathered View   // all shards but this rank's, where the kernel pulls them
	InOrder  bool   // as in Product: the tiles of every shard add up the depth from front to end
}

// Kind is "tiles".
func (Tiles) Kind() Kind { return "tiles" }

func (Tiles) asks() string { return MovesField }

func (t Tiles) views() (reads, writes []View) {
	return some(t.Own, t.Shards, t.B, t.Bias), []View{t.To, t.Gathered}
}

func (t Tiles) result() View { return t.To }

func (t Tiles) with(p Parts) Work {
	t.To, t.Gathered = p.view("destination", t.To), p.view("destination", t.Gathered)
	t.Own, t.Shards = p.view("source", t.Own), p.view("source", t.Shards)
	t.B, t.Bias = p.view("source", t.B), p.view("source", t.Bias)
	return t
}

func (t Tiles) check(s Step) error {
	if t.Shards.Each.Index == "" || len(some(t.Own, t.B, t.To, t.Gathered)) < 4 {
		return fmt.Errorf("tiles read the own shard, those of the peers, a second operand and perhaps a bias, and " +
			"write results and shards")
	}
	return s.checkLaunched()
}

func (t Tiles) text() string {
	reads, writes := t.views()
	return called("Tiles "+tileNames(t.Tiles)+": Linear", writes, reads) + ordered(t.InOrder)
}

// ordered is how the text of a kernel's product says that it is in order.
func ordered(inOrder bool) string {
	if inOrder {
		return ", in order"
	}
	return ""
}

// checkLaunched refuses tiles that no kernel makes between its signals.
func (s Step) checkLaunched() error {
	if s.By == "" || !s.Fused() {
		return fmt.Errorf("a kernel makes tiles between its signals")
	}
	return nil
}

// Tiled are the tiles by which a kernel makes the product of work; nil where no kernel does.
func Tiled(w Work) []Tile {
	switch x := w.(type) {
	case Tiles:
		return x.Tiles
	case Scatter:
		return x.Tiles
	}
	return nil
}

// OwnProduct is the product of this rank's rows as a separate step, where a kernel makes it by tiles; else it is the
// step.
func (s Step) OwnProduct() (product Step, tiles bool) {
	p := Product{Index: Linear}
	switch x := s.Do.(type) {
	case Tiles:
		p.To, p.A, p.B, p.Bias, p.InOrder = Chunk(x.To.Buffer, Rank), x.Own, x.B, x.Bias, x.InOrder
	case Scatter:
		p.To, p.A, p.B, p.InOrder = x.Own, Chunk(x.A.Buffer, Rank), x.B, x.InOrder
	default:
		return s, false
	}
	return Do(s.Stream, p), true
}
