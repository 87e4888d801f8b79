package scenario

import (
	"context"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/allgatherlinearfused"
	"ovgen/generated/allgatherlinearpackets"
	"ovgen/generated/allgatherlinearringget"
	"ovgen/generated/allgatherlineartiles"
	"ovgen/generated/allreduceoneshot"
	"ovgen/generated/allreducepush"
	_ "ovgen/generated/host"
	"ovgen/generated/linearreducescattertiles"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/verify/reference"
)

// program is a package whose plans layers are, and what a layer has to know of it.
type program struct {
	make  func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error)
	shape func(ranks int) allgatherlinear.Shape
	// rows are the elements of A on a rank, and results those of C.
	rows, results func(s allgatherlinear.Shape, ranks int) int
	buffers       func(l *layer, a driver.Ptr) []driver.Ptr // that Bind takes
	want          func(l *layer, seed int) []float64
}

// The programs: of copies and stream memory operations, of such around a ring,
// of a kernel a pull, of one kernel that pulls and multiplies,
// of one that multiplies and adds up, of one that gathers packets,
// and of one kernel of several blocks that reads peers' memory, or writes it.
var (
	copied = product(func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error) {
		return base(allgatherlinear.New(ctx, g, s))
	})
	ringed = product(func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error) {
		return base(allgatherlinearringget.New(ctx, g, allgatherlinearringget.Shape(s)))
	})
	fused = product(func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error) {
		return base(allgatherlinearfused.New(ctx, g, allgatherlinearfused.Shape(s)))
	})
	tiles = product(func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error) {
		return base(allgatherlineartiles.New(ctx, g, allgatherlineartiles.Shape(s)))
	})
	packets = product(func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error) {
		return base(allgatherlinearpackets.New(ctx, g, allgatherlinearpackets.Shape(s)))
	})
	scatter = &program{
		make: func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error) {
			return base(linearreducescattertiles.New(ctx, g, linearreducescattertiles.Shape(s)))
		},
		shape: func(ranks int) allgatherlinear.Shape {
			return allgatherlinear.Shape{M: 5 * ranks, K: 16 * ranks, N: 16, Type: driver.BF16}
		},
		rows:    func(s allgatherlinear.Shape, ranks int) int { return s.M * s.K / ranks },
		results: func(s allgatherlinear.Shape, ranks int) int { return s.M / ranks * s.N },
		buffers: func(l *layer, a driver.Ptr) []driver.Ptr { return []driver.Ptr{a, l.b.Ptr(), l.c.Ptr()} },
		want:    partial,
	}
	shot = sums(func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error) {
		return base(allreduceoneshot.New(ctx, g, allreduceoneshot.Shape{M: s.M, N: s.N, Type: s.Type}))
	})
	push = sums(func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error) {
		return base(allreducepush.New(ctx, g, allreducepush.Shape{M: s.M, N: s.N, Type: s.Type}))
	})
)

// product is the program of a package that gathers A, multiplies it by B, and adds Bias.
func product(make func(context.Context, *group.Group, allgatherlinear.Shape) (*plan.Plan, error)) *program {
	return &program{make: make, shape: shape,
		rows:    func(s allgatherlinear.Shape, ranks int) int { return s.M / ranks * s.K },
		results: func(s allgatherlinear.Shape, _ int) int { return s.M * s.N },
		buffers: func(l *layer, a driver.Ptr) []driver.Ptr {
			return []driver.Ptr{a, l.b.Ptr(), l.bias.Ptr(), l.c.Ptr()}
		},
		want: func(l *layer, seed int) []float64 {
			p := reference.Product{M: l.s.M, K: l.s.K, N: l.s.N, Type: l.s.Type, Transposed: true}
			b := l.weights(l.g.Rank()).Values(l.s.Type, l.s.N*l.s.K)
			return p.Of(l.input(seed).Values(l.s.Type, l.s.M*l.s.K), b, l.biases().Values(l.s.Type, l.s.N),
				reference.Values{}).Want
		}}
}

// sums is the program of a package that adds up what the ranks have of A.
func sums(make func(context.Context, *group.Group, allgatherlinear.Shape) (*plan.Plan, error)) *program {
	elements := func(s allgatherlinear.Shape, _ int) int { return s.M * s.N }
	return &program{make: make, rows: elements, results: elements, want: sum,
		shape: func(int) allgatherlinear.Shape {
			return allgatherlinear.Shape{M: 5, K: 1, N: 128, Type: driver.FP32}
		},
		buffers: func(l *layer, a driver.Ptr) []driver.Ptr { return []driver.Ptr{a, l.c.Ptr()} }}
}

// base is what the plans of all packages have.
func base(p plan.Runner, err error) (*plan.Plan, error) {
	if err != nil {
		return nil, err
	}
	return p.Base(), nil
}

// shape is small; rows a rank are no multiple of 8.
func shape(size int) allgatherlinear.Shape {
	return allgatherlinear.Shape{M: 5 * size, K: 32, N: 16, Type: driver.BF16}
}

// sum adds up what the ranks have of A.
func sum(l *layer, seed int) []float64 {
	want := make([]float64, l.s.M*l.s.N)
	for i := range want {
		for r := range l.g.Size() {
			want[i] += float64(l.input(seed).At(int64(r*len(want) + i)))
		}
	}
	return want
}

// partial adds up what the ranks make of this rank's rows, each of its part of the columns of A and of B.
func partial(l *layer, seed int) []float64 {
	ranks, rank := l.g.Size(), l.g.Rank()
	rows, depth := l.s.M/ranks, l.s.K/ranks
	want := make([]float64, rows*l.s.N)
	for r := range ranks {
		b := l.weights(r)
		for i := range want {
			row, column := rank*rows+i/l.s.N, i%l.s.N
			for k := range depth {
				a := l.input(seed).At(int64(r*l.s.M*depth + row*depth + k))
				want[i] += float64(a * b.At(int64(column*depth+k)))
			}
		}
	}
	return want
}
