package scenario

import (
	"context"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/allgatherlinearfused"
	"ovgen/generated/allgatherlinearringget"
	"ovgen/generated/allgatherlineartiles"
	"ovgen/generated/allreduceoneshot"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/verify/reference"
)

// program is a package whose plans layers are, and what a layer has to know of it.
type program struct {
	make  func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error)
	shape func(ranks int) allgatherlinear.Shape
	// rows are the elements of A on a rank, and results those of C. A program with weights multiplies A
	// by B and adds Bias.
	rows, results func(s allgatherlinear.Shape, ranks int) int
	weights       bool
	want          func(l *layer, seed int) []float64
}

// The programs: of copies and stream memory operations, of such around a ring,
// of a kernel a pull, of one kernel that pulls and multiplies,
// and of one kernel of several blocks.
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
	shot = &program{
		make: func(ctx context.Context, g *group.Group, s allgatherlinear.Shape) (*plan.Plan, error) {
			return base(allreduceoneshot.New(ctx, g, allreduceoneshot.Shape{M: s.M, N: s.N, Type: s.Type}))
		},
		shape: func(int) allgatherlinear.Shape {
			return allgatherlinear.Shape{M: 5, K: 1, N: 128, Type: driver.FP32}
		},
		rows:    func(s allgatherlinear.Shape, _ int) int { return s.M * s.N },
		results: func(s allgatherlinear.Shape, _ int) int { return s.M * s.N },
		want:    sum,
	}
)

// product is the program of a package that gathers A and multiplies it.
func product(make func(context.Context, *group.Group, allgatherlinear.Shape) (*plan.Plan, error)) *program {
	return &program{make: make, shape: shape, weights: true,
		rows:    func(s allgatherlinear.Shape, ranks int) int { return s.M / ranks * s.K },
		results: func(s allgatherlinear.Shape, _ int) int { return s.M * s.N },
		want: func(l *layer, seed int) []float64 {
			p := reference.Product{M: l.s.M, K: l.s.K, N: l.s.N, Type: l.s.Type, Transposed: true}
			return p.Of(l.input(seed).Values(l.s.Type, l.s.M*l.s.K), l.weights().Values(l.s.Type, l.s.N*l.s.K),
				l.biases().Values(l.s.Type, l.s.N)).Want
		}}
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
