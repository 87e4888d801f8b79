package plan

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// world is a simulated node with one group on it, in a bubble of virtual time.
type world struct {
	*testing.T
	raw    []driver.Driver // by rank, as the simulator gave them
	groups []*group.Group
}

// timeout of the groups in tests.
const timeout = 3 * time.Second

// inWorld runs f once on a group of n ranks and then looks for races. wrap, if
// not nil, decorates each rank's driver.
func inWorld(t *testing.T, n int, c sim.Config, wrap func(driver.Driver) driver.Driver, f func(w *world)) {
	t.Helper()
	inWorldOf(t, n, c, wrap, 0, f)
}

// inWorldOf is inWorld of a group whose plans keep that many graphs.
func inWorldOf(t *testing.T, n int, c sim.Config, wrap func(driver.Driver) driver.Driver,
	graphs int, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c.Devices = n
		node := simtest.NewNode(c)
		defer node.Close()
		ranks, err := node.Configs(0, n)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t}
		for r := range ranks {
			w.raw, ranks[r].Timeout = append(w.raw, ranks[r].Driver), timeout
			ranks[r].Graphs = graphs
			if wrap != nil {
				ranks[r].Driver = wrap(ranks[r].Driver)
			}
		}
		if w.groups, err = simtest.Join(t.Context(), ranks); err != nil {
			t.Fatal(err)
		}
		defer w.leave()
		f(w)
		if len(w.groups) == 0 || w.groups[0].Err() != nil {
			return // streams that an abort released run over garbage
		}
		for _, race := range node.Races() {
			t.Errorf("race: %v", race)
		}
	})
}

// leave closes the groups, and with them the remains of a failed test.
func (w *world) leave() {
	if w.Failed() {
		w.groups[0].Abort(errors.New("the test failed"))
	}
	w.each(func(r int) {
		if err := w.groups[r].Close(context.Background()); err != nil && !w.Failed() {
			w.Errorf("rank %d: close the group: %v", r, err)
		}
	})
}

// each runs f for every rank at once.
func (w *world) each(f func(r int)) {
	_ = simtest.Each(len(w.groups), func(r int) error {
		f(r)
		return nil
	})
}

// must ends the test; it is called on the test's goroutine.
func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// toy is written as a generated package is: all-gather + linear, pulled. Rows a
// rank, K and N are small; the values are integers, so sums are exact.
type toy struct {
	plan           *Plan
	a, b, bias, c  *Buffer
	gathered       *Buffer
	ready, read    *Semaphore
	copy           *Stream
	work           []*Stream
	gemm           *Product
	chunkA, chunkC int64
	rank           int
	driver         driver.Driver
	loop           bool           // handles of a are exchanged in the loop
	A, B, Bias, C  *device.Buffer // what the caller owns
	other          layer          // of a test that binds two by turns
}

const rows, inner, columns = 4, 8, 16

// loopProgram is the toy that exchanges handles in its loop.
var loopProgram = &Program{Name: "looptoy", Hash: "c0ffee", Proof: byHand, Ranks: upTo8, Eager: true}

var toyProgram = &Program{Name: "toy", Hash: "c0ffee", Proof: byHand, Ranks: upTo8}

// byHand is the proof that the toys declare.
const byHand = "a toy of the tests"

var upTo8 = []int{1, 2, 3, 4, 5, 6, 7, 8}

// newToy is a generated New.
func newToy(ctx context.Context, g *group.Group, prog *Program, shape string) (*toy, error) {
	t, b := &toy{rank: g.Rank(), driver: g.Driver()}, Build(g, prog, shape)
	d := g.Size()
	t.chunkA, t.chunkC = rows*inner*4, rows*columns*4
	shared := b.Shared
	if t.loop = prog == loopProgram; t.loop {
		shared = b.InLoop
	}
	t.a = shared("a", t.chunkA)
	t.b = b.Caller("b", inner*columns*4)
	t.bias = b.Caller("bias", columns*4)
	t.c = b.Written(b.Caller("c", t.chunkC*int64(d)))
	t.gathered = b.Allocate("gathered", t.chunkA*int64(d))
	t.ready, t.read = b.Semaphore("ready"), b.Semaphore("read")
	t.copy = b.Stream("copy", driver.High)
	t.work = b.Streams("work", 1, d, driver.Low)
	t.gemm = b.Matmul(driver.MatmulDesc{M: rows, K: inner, N: columns, Type: driver.FP32, Transposed: true, Bias: true})
	var err error
	t.plan, err = b.Finish(ctx, t.issue)
	return t, err
}

func (t *toy) issue(q *Queue) {
	r, d := q.Rank(), q.Size()
	main := q.Main()
	q.Post(main, t.ready)
	q.Synchronize(t.copy, main)
	for i := 1; i < d; i++ {
		q.Synchronize(t.work[i], main)
	}
	q.Linear(main, t.gemm, t.c.At(t.chunkC*int64(r)), t.a.At(0), t.b.At(0), t.bias.At(0))
	for i := 1; i < d; i++ {
		from := (r + i) % d
		g := t.gathered.At(t.chunkA * int64(from))
		if t.loop {
			q.Share(t.a, (d+r-i)%d, from)
		}
		q.Wait(t.copy, t.ready, from)
		q.Set(t.copy, g, t.a.Peer(from, 0), t.chunkA)
		q.Synchronize(t.work[i], t.copy)
		q.Linear(t.work[i], t.gemm, t.c.At(t.chunkC*int64(from)), g, t.b.At(0), t.bias.At(0))
	}
	q.Post(t.copy, t.read)
	q.Wait(t.copy, t.read)
	q.Synchronize(main, t.copy)
	for i := 1; i < d; i++ {
		q.Synchronize(main, t.work[i])
	}
}

// allocate makes the caller's memory.
func (t *toy) allocate() error {
	d := int64(t.plan.Size())
	for to, n := range map[**device.Buffer]int64{
		&t.A: t.chunkA, &t.B: inner * columns * 4, &t.Bias: columns * 4, &t.C: d * t.chunkC} {
		b, err := device.Alloc(t.driver, n)
		if err != nil {
			return err
		}
		*to = b
	}
	return nil
}

func (t *toy) bind(ctx context.Context) error {
	return t.plan.Bind(ctx, t.A.Ptr(), t.B.Ptr(), t.Bias.Ptr(), t.C.Ptr())
}

// close ends the plan and frees the caller's memory.
func (t *toy) close(ctx context.Context) error {
	err := t.plan.Close(ctx)
	for _, b := range []*device.Buffer{t.A, t.B, t.Bias, t.C} {
		if b != nil {
			err = errors.Join(err, b.Close())
		}
	}
	return err
}

// fill makes new inputs from a seed and poisons the output.
func (t *toy) fill(seed uint64) error {
	poison := make([]float32, rows*columns*t.plan.Size())
	for i := range poison {
		poison[i] = 1e9
	}
	return errors.Join(t.A.Set(bytesOf(inputs(seed, uint64(t.rank)+1, rows*inner))),
		t.B.Set(bytesOf(inputs(seed, 0, inner*columns))), t.Bias.Set(bytesOf(inputs(seed, 99, columns))),
		t.C.Set(bytesOf(poison)))
}

// inputs are integers from -4 to 4.
func inputs(seed, which uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, which))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.IntN(9) - 4)
	}
	return x
}

// want is the output for the A of one seed, and the B and bias of another.
func (t *toy) want(seed, weights uint64) []float32 {
	b, bias := inputs(weights, 0, inner*columns), inputs(weights, 99, columns)
	var c []float32
	for r := range t.plan.Size() {
		a := inputs(seed, uint64(r)+1, rows*inner)
		for i := range rows {
			for n := range columns {
				sum := bias[n]
				for k := range inner {
					sum += a[i*inner+k] * b[n*inner+k]
				}
				c = append(c, sum)
			}
		}
	}
	return c
}

// check compares memory with the output for a seed, every element.
func (t *toy) check(c *device.Buffer, seed uint64) error { return t.compare(c, seed, seed) }

func (t *toy) compare(c *device.Buffer, seed, weights uint64) error {
	want := t.want(seed, weights)
	got := make([]byte, 4*len(want))
	if err := c.Get(got); err != nil {
		return err
	}
	for i, x := range want {
		if y := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])); y != x {
			return fmt.Errorf("rank %d, seed %d: element %d is %v, want %v", t.rank, seed, i, y, x)
		}
	}
	return nil
}

func bytesOf(x []float32) []byte {
	b := make([]byte, 0, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// toys makes a bound toy on every rank.
func (w *world) toys() []*toy { return w.toysOf(toyProgram) }

func (w *world) toysOf(prog *Program) []*toy {
	w.Helper()
	toys := make([]*toy, len(w.groups))
	w.must(simtest.Each(len(toys), func(r int) (err error) {
		if toys[r], err = newToy(w.Context(), w.groups[r], prog, "small"); err != nil {
			return err
		}
		return errors.Join(toys[r].allocate(), toys[r].bind(w.Context()))
	}))
	return toys
}

// all runs f for every toy at once and ends the test if one fails.
func (w *world) all(toys []*toy, f func(t *toy) error) {
	w.Helper()
	w.must(simtest.Each(len(toys), func(r int) error { return f(toys[r]) }))
}
