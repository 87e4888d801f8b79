// Package peers is an all-reduce by a kernel of one's own, sum.cu, which reads the memory of all ranks and signals them
// by words: both are what Group.Peers gives. It runs on GPUs as PTX, which ovgen ptx makes, and in the simulator
// as host.cc compiles it.
package peers

//go:generate go run ovgen/cmd/ovgen ptx sum.cu

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"unsafe"

	_ "ovgen/generated/device" // the headers of sum.cu
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

const (
	blocks  = 16 // of a launch: all of them are on the device at once
	threads = 256
)

// params is struct sum.
type params struct {
	buffers, words, dst driver.Ptr
	count, rank, ranks  uint64
}

//go:embed sum.cu
var _ []byte // host.cc includes it, and so go build sees it change

//go:embed sum_sm80.ptx
var ptx []byte

var host unsafe.Pointer // the kernel for the simulator

// Sum adds up a buffer of floats over the ranks of a group on one host.
type Sum struct {
	driver driver.Driver
	peers  *group.Peers
	rank   int
	ranks  int
	count  int
	module driver.Module
	kernel driver.Function
}

// New shares the buffer of so many floats at an address, which the caller keeps until Close has returned on all ranks.
// It is collective. Errors are those of Group.Peers.
func New(ctx context.Context, g *group.Group, at driver.Ptr, count int) (*Sum, error) {
	p, err := g.Peers(ctx, at, 4*int64(count), 2*blocks)
	if err != nil {
		return nil, err
	}
	s := &Sum{driver: g.Driver(), peers: p, rank: g.Rank(), ranks: g.Size(), count: count}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("load kernel sum: %w", err), s.Close(ctx))
	}
	return s, nil
}

// load loads the kernel and launches it with nothing to do: the first launch may load, which must not meet a run.
func (s *Sum) load() (err error) {
	code := &driver.Code{Name: "peers", PTX: ptx, Host: host,
		Kernels: []driver.Kernel{{Name: "sum", Params: int(unsafe.Sizeof(params{})), Touches: s.touches}}}
	if s.module, err = s.driver.ModuleLoadData(code); err != nil {
		return err
	}
	if s.kernel, err = s.driver.ModuleGetFunction(s.module, "sum"); err != nil {
		return err
	}
	return errors.Join(s.launch(params{}, 0), s.driver.StreamSynchronize(0))
}

// Enqueue enqueues the sum of all ranks' buffers into dst, of as many floats. All ranks enqueue it, as often, and may
// capture it. The buffers may be written again by what follows on the stream.
func (s *Sum) Enqueue(dst driver.Ptr, on driver.Stream) error {
	return s.launch(params{s.peers.Buffers(), s.peers.Words(), dst, uint64(s.count), uint64(s.rank),
		uint64(s.ranks)}, on)
}

func (s *Sum) launch(p params, on driver.Stream) error {
	err := s.driver.LaunchKernel(s.kernel, driver.Dim3{X: blocks, Y: 1, Z: 1}, driver.Dim3{X: threads, Y: 1, Z: 1}, on,
		unsafe.Pointer(&p))
	if err != nil {
		return fmt.Errorf("launch kernel sum: %w", err)
	}
	return nil
}

// Close ends it on all ranks, once what was enqueued has completed.
func (s *Sum) Close(ctx context.Context) error {
	err := s.peers.Close(ctx)
	if s.module != 0 {
		err = errors.Join(err, s.driver.ModuleUnload(s.module))
	}
	return err
}

// touches is what a launch reads and writes, block by block: the simulator finds races by it.
func (s *Sum) touches(at unsafe.Pointer, to []driver.Touch) []driver.Touch {
	p := (*params)(at)
	part := (int64(p.count) + blocks - 1) / blocks
	for b := range blocks {
		first := min(int64(b)*part, int64(p.count))
		n := min(part, int64(p.count)-first)
		if p.count == 0 {
			break
		}
		to = s.meet(to, b, 2*b)
		use := driver.Touch{Kind: driver.TouchRead, Bytes: 4 * n, Block: b + 1}
		for r := range s.ranks {
			use.At = s.peers.Buffer(r) + driver.Ptr(4*first)
			to = append(to, use)
		}
		use.Kind, use.At = driver.TouchWrite, p.dst+driver.Ptr(4*first)
		to = append(to, use)
		to = s.meet(to, b, 2*b+1)
	}
	return to
}

// meet has the words of a meeting: posts, waits, and the words taken back.
func (s *Sum) meet(to []driver.Touch, block, word int) []driver.Touch {
	for _, kind := range []driver.TouchKind{driver.TouchPost, driver.TouchWait, driver.TouchWrite} {
		for r := range s.ranks {
			if r == s.rank {
				continue
			}
			t := driver.Touch{Kind: kind, At: s.peers.Word(s.rank, word, r), Value: 1, Block: block + 1}
			switch kind {
			case driver.TouchPost:
				t.At = s.peers.Word(r, word, s.rank)
			case driver.TouchWrite:
				t.Bytes, t.Value = 4, 0
			}
			to = append(to, t)
		}
	}
	return to
}
