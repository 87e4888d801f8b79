package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/schedule"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/reading"
	"ovgen/verify/reference"
)

var (
	rows     = schedule.Dim(schedule.M, schedule.DIDx(schedule.D))
	columnsK = schedule.Dim(schedule.K, schedule.DIDx(schedule.D))
	columnsF = schedule.Dim(schedule.F, schedule.DIDx(schedule.D))
	each     = schedule.Dim(schedule.D, schedule.DIDx(schedule.D))
	unevenD  = schedule.Dim(schedule.D, Split{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true})
	steps    = schedule.Dim(schedule.M, schedule.Stream(schedule.D))
	chunked  = schedule.Dim(schedule.M, schedule.Split{Kind: schedule.Plain, Count: "8"}, schedule.DIDx(schedule.D))
	inM      = schedule.Dim(schedule.M)
	inK      = schedule.Dim(schedule.K)
	inN      = schedule.Dim(schedule.N)
	inN2     = schedule.Dim(schedule.N2)
	inN3     = schedule.Dim(schedule.N3)
)

// ofKind is a program with the operations of a kind on tensors with the usual names.
func ofKind(kind string, p Program) Program {
	p.Schedule.Ops = scheduletest.Ops(kind, p.Schedule.Tensors)
	return p
}

func ofKindPtr(kind string, p Program) *Program {
	p = ofKind(kind, p)
	return &p
}

// of is a schedule of tensors, to which ofKind adds the operations.
func of(tensors ...Tensor) schedule.Schedule { return schedule.Schedule{Tensors: tensors} }

func tensor(name string, axes ...Axis) Tensor { return Tensor{Name: name, Axes: axes} }

// operations are programs of every kind, carried out the plain way.
var operations = []Program{
	ofKind("linear", Program{Name: "gather", Schedule: of(tensor("A", chunked, inK), tensor("B", inN, inK),
		tensor("Bias", inN), tensor("C", inM, inN))}),
	ofKind("linear", Program{Name: "qkv", Schedule: of(tensor("A", rows, inK), tensor("B", inN, inK),
		tensor("B2", inN2, inK), tensor("B3", inN3, inK),
		tensor("C", steps, inN), tensor("C2", steps, inN2), tensor("C3", steps, inN3),
		tensor("Gathered", steps, inK))}),
	ofKind("matmul", Program{Name: "scatter", Schedule: of(tensor("A", inM, columnsK), tensor("B", columnsK, inN),
		tensor("C", rows, inN))}),
	ofKind("linear", Program{Name: "reduce", Schedule: of(tensor("A", inM, columnsK), tensor("B", inN, columnsK),
		tensor("Bias", inN), tensor("C", inM, inN))}),
	ofKind("gradient", Program{Name: "columngradient", Schedule: of(tensor("A", inM, inN), tensor("B", rows, inK),
		tensor("C", inN, inK))}),
	ofKind("gradient", Program{Name: "rowgradient", Schedule: of(tensor("A", rows, inN), tensor("B", inM, inK),
		tensor("C", inN, inK))}),
	ofKind("mlp", Program{Name: "mlp", Schedule: of(tensor("A", rows, inK), tensor("B", columnsF, inK),
		tensor("Bias", columnsF), tensor("B2", inN, columnsF), tensor("C", rows, inN))}),
	ofKind("copy", Program{Name: "allgather", Schedule: of(tensor("A", rows, inN), tensor("C", steps, inN))}),
	ofKind("copy", Program{Name: "uneven",
		Schedule: of(tensor("A", schedule.Dim(schedule.M, Split{Kind: schedule.DeviceX, Count: schedule.D,
			Uneven: true}), inN), tensor("C", inM, inN))}),
	ofKind("copy", Program{Name: "alltoall", Schedule: of(tensor("A", each, schedule.Dim(schedule.D), inM),
		tensor("C", schedule.Dim(schedule.D), each, inM))}),
	ofKind("copy", Program{Name: "alltoallv", Schedule: of(tensor("A", unevenD, schedule.Dim(schedule.D), inM),
		tensor("C", schedule.Dim(schedule.D), unevenD, inM))}),
	ofKind("copy", Program{Name: "permutation", Schedule: of(tensor("A", rows, inN),
		tensor("C", schedule.Dim(schedule.M, Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1}), inN))}),
	ofKind("copy", Program{Name: "broadcast", Schedule: of(Tensor{Name: "A", Axes: []Axis{inM, inN}, Root: true},
		tensor("C", inM, inN))}),
	ofKind("sum", Program{Name: "reducescatter", Schedule: of(tensor("A", each, inM, inN),
		tensor("C", rows, inN))}),
	ofKind("sum", Program{Name: "allreduce", Schedule: of(tensor("A", each, inM, inN), tensor("C", inM, inN))}),
}

// plain is a plan that brings all parts together on the host and multiplies the
// whole on each rank. spoil may change the results before they are placed.
type plain struct {
	*Tensors
	group *group.Group
	b     Buffers
	spoil func(name string, whole []float32)
	turn  int
}

func (p *Program) plain(spoil func(string, []float32)) *Program {
	q := *p
	q.Types = []driver.Type{driver.BF16, driver.FP16, driver.FP32}
	q.New = func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
		r := &Member{Group: g}
		x, err := q.Problem(s, g.Size())
		t := &Tensors{Member: r, Program: &q, Shape: s, Problem: x, Parts: map[string]reading.Part{}}
		for _, tensor := range q.Schedule.Tensors {
			part, wrong := x.Part(tensor.Name, g.Rank())
			t.Parts[tensor.Name], err = part, errors.Join(err, wrong)
		}
		return &plain{Tensors: t, group: g, spoil: spoil}, err
	}
	return &q
}

func (p *plain) Bind(_ context.Context, b Buffers) error {
	p.b, p.At = b, b.At
	x, err := p.Program.loaded(p.Shape, p.group.Size(), b.Counts)
	if err != nil {
		return err
	}
	p.Problem = x
	for _, tensor := range p.Program.Schedule.Tensors {
		part, wrong := x.Part(tensor.Name, p.group.Rank())
		p.Parts[tensor.Name], err = part, errors.Join(err, wrong)
	}
	return err
}

func (p *plain) Enqueue(s driver.Stream) error {
	if err := p.Member.Driver().StreamSynchronize(s); err != nil {
		return err
	}
	return p.Run(context.Background())
}

func (p *plain) Replay(s driver.Stream) error { return p.Enqueue(s) }

func (p *plain) Close(context.Context) error { return p.Free() }

func (p *plain) Run(ctx context.Context) error {
	whole := map[string][]float32{}
	for _, tensor := range p.Program.Schedule.Tensors {
		if p.Program.Made(tensor.Name) {
			continue
		}
		v, err := p.together(ctx, tensor.Name)
		if err != nil {
			return err
		}
		whole[tensor.Name] = v
	}
	if err := p.compute(whole); err != nil {
		return err
	}
	for _, name := range p.results() {
		if p.spoil != nil {
			p.spoil(name, whole[name])
		}
		part := make([]float32, p.Parts[name].Count)
		for i := range part {
			part[i] = whole[name][p.Parts[name].At(i)]
		}
		if len(part) == 0 {
			continue
		}
		if err := p.Member.Driver().MemcpyHtoD(p.b.At[name], reference.Encode(p.Shape.Type, part)); err != nil {
			return err
		}
	}
	return nil
}

// together is a whole tensor, each element from the first rank that has it; this
// rank's own where it has all.
func (p *plain) together(ctx context.Context, name string) ([]float32, error) {
	mine, err := p.download(name)
	if err != nil {
		return nil, err
	}
	p.turn++
	all, err := p.group.Gather(ctx, fmt.Sprint(name, p.turn), reference.Encode(p.Shape.Type, mine))
	if err != nil || len(mine) == p.Problem.Elements(name) && !p.Problem.Tensor(name).Root {
		return mine, err
	}
	whole := make([]float32, p.Problem.Elements(name))
	for r := p.Member.Size() - 1; r >= 0; r-- {
		v, err := reference.Decode(p.Shape.Type, all[r])
		if err != nil {
			return nil, err
		}
		part, err := p.Problem.Part(name, r)
		if err != nil {
			return nil, err
		}
		for i, x := range v {
			whole[part.At(i)] = x
		}
	}
	return whole, nil
}

func (p *plain) compute(whole map[string][]float32) error {
	for _, s := range p.Problem.Steps() {
		switch s.Does {
		case reference.Copies:
			whole[s.C] = whole[s.A]
		case reference.AddsUp:
			c := make([]float32, p.Problem.Elements(s.C))
			for i, x := range whole[s.A] {
				c[i%len(c)] += x
			}
			whole[s.C] = c
		default:
			if err := p.multiply(s, whole); err != nil {
				return err
			}
		}
	}
	return nil
}

// multiply makes one product on the device.
func (p *plain) multiply(s reference.Step, whole map[string][]float32) error {
	h, err := p.Product(s.Product, s.Bias != "")
	if err != nil {
		return err
	}
	space, err := p.Alloc(driver.WorkspaceBytes / int(p.Shape.Type.Size()))
	if err != nil {
		return err
	}
	var at [4]driver.Ptr
	for i, name := range []string{s.A, s.B, s.Bias, s.C} {
		n := len(whole[name])
		if name == s.C {
			n = s.M * s.N
		}
		if at[i], err = p.Alloc(n); err != nil {
			return err
		}
		if err := p.Member.Driver().MemcpyHtoD(at[i], reference.Encode(p.Shape.Type, whole[name])); name != s.C &&
			name != "" && err != nil {
			return err
		}
	}
	stream, err := p.Member.Driver().StreamCreateWithPriority(driver.Normal)
	if err != nil {
		return err
	}
	raw := make([]byte, p.Bytes(s.M*s.N))
	err = errors.Join(p.Member.Driver().Matmul(h,
		driver.Operands{C: at[3], A: at[0], B: at[1], Bias: at[2], Workspace: space}, stream),
		p.Member.Driver().StreamSynchronize(stream),
		p.Member.Driver().StreamDestroy(stream), p.Member.Driver().MemcpyDtoH(raw, at[3]), p.Free())
	if err != nil {
		return err
	}
	whole[s.C], err = reference.Decode(p.Shape.Type, raw)
	return err
}

// TestEveryOperation holds plain plans against the reference: placements, inputs
// and results of every operation fit together.
func TestEveryOperation(t *testing.T) {
	for _, p := range operations {
		for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
			for i, s := range p.VerifyShapes(typ, 3, false) {
				s.Type = typ
				t.Run(fmt.Sprintf("%s %s %s", p.Name, s, typ), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						if err := testShape(t.Context(), p.plain(nil), s, 3, uint64(i)); err != nil {
							t.Error(err)
						}
					})
				})
			}
		}
	}
}

// TestEveryResult changes one result.
func TestEveryResult(t *testing.T) {
	for _, p := range operations {
		for _, name := range (&Tensors{Program: &p}).results() {
			t.Run(p.Name+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					wrong := p.plain(func(result string, whole []float32) {
						if result == name {
							for i := range whole { // not every element is in some part
								whole[i] += 32
							}
						}
					})
					s := wrong.VerifyShapes(driver.BF16, 3, false)[1]
					s.Type = driver.BF16
					err := testShape(t.Context(), wrong, s, 3, 1)
					if err == nil || !strings.Contains(err.Error(), name+", row ") {
						t.Errorf("a wrong %s: %v", name, err)
					}
				})
			})
		}
	}
}
