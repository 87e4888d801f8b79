// Package peers is an all-reduce by a hand-written kernel, sum.cu. The kernel reads the memory of all ranks and signals
// them by words, by addresses of Group.Peers. On GPUs it runs as PTX, which ovgen ptx makes, and in the simulator as
// package host compiles it.
package peers

//go:generate go run ovgen/cmd/ovgen ptx sum.cu

import (
	"context"
	_ "embed"
	"errors"

	_ "ovgen/generated/device" // the headers of sum.cu
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/modules"
	"ovgen/verify/touch"
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
var _ []byte // package host compiles it, and so go build sees it change

//go:embed sum_sm80.ptx
var ptx []byte

// Sum adds up a buffer of floats over the ranks of a group on one host.
type Sum struct {
	peers   *group.Peers
	rank    int
	ranks   int
	count   int
	kernels *modules.Kernels
}

// New shares a buffer of floats at an address with all ranks. The caller keeps it until Close has returned on all
// ranks. All ranks call New. Its errors come from Group.Peers.
func New(ctx context.Context, g *group.Group, at driver.Ptr, count int) (*Sum, error) {
	p, err := g.Peers(ctx, at, 4*int64(count), 2*blocks)
	if err != nil {
		return nil, err
	}
	s := &Sum{peers: p, rank: g.Rank(), ranks: g.Size(), count: count}
	s.kernels, err = modules.Load(g.Driver(), &driver.Code{Name: "peers", PTX: ptx,
		Kernels: []driver.Kernel{touch.Describe("sum", s.touches)}})
	if err != nil {
		return nil, errors.Join(err, p.Close(ctx))
	}
	return s, nil
}

// Enqueue enqueues the sum of all ranks' buffers into dst, which has the size of the buffer. All ranks enqueue equally
// many sums, and may capture them. Later work on the stream may write the buffers again.
func (s *Sum) Enqueue(dst driver.Ptr, on driver.Stream) error {
	return s.kernels.Launch(on, "sum", blocks, threads, &params{s.peers.Buffers(), s.peers.Words(), dst,
		uint64(s.count), uint64(s.rank), uint64(s.ranks)})
}

// Close ends the sharing on all ranks. All enqueued sums must have completed.
func (s *Sum) Close(ctx context.Context) error {
	return errors.Join(s.peers.Close(ctx), s.kernels.Close())
}

// touches lists the memory that each block of a launch reads and writes. The simulator finds races by it.
func (s *Sum) touches(p *params) (to []touch.Touch) {
	part := (int64(p.count) + blocks - 1) / blocks
	for b := range blocks {
		first := min(int64(b)*part, int64(p.count))
		n := min(part, int64(p.count)-first)
		if p.count == 0 {
			break
		}
		to = s.meet(to, b, 2*b)
		from := len(to)
		for r := range s.ranks {
			to = append(to, touch.Reads(s.peers.Buffer(r)+driver.Ptr(4*first), 4*n))
		}
		to = append(to, touch.Writes(p.dst+driver.Ptr(4*first), 4*n))
		for i := range to[from:] {
			to[from+i].Block = b + 1
		}
		to = s.meet(to, b, 2*b+1)
	}
	return to
}

// meet has the words of a meeting: posts, waits, and the words taken back.
func (s *Sum) meet(to []touch.Touch, block, word int) []touch.Touch {
	for _, kind := range []touch.Kind{touch.Post, touch.Wait, touch.Write} {
		for r := range s.ranks {
			if r == s.rank {
				continue
			}
			t := touch.Touch{Kind: kind, At: s.peers.Word(s.rank, word, r), Value: 1, Block: block + 1}
			switch kind {
			case touch.Post:
				t.At = s.peers.Word(r, word, s.rank)
			case touch.Write:
				t.Bytes, t.Value = 4, 0
			}
			to = append(to, t)
		}
	}
	return to
}
