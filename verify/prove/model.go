package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Model is what operations alone don't say: whose memory is whose, and what the
// result has to be made of.
type Model struct {
	Program    string
	Buffers    []Buffer
	Semaphores []string // each a word for every rank, in every rank's memory
	Result     *Result  // nil: contents are not checked
}

// Buffer is memory that each rank has under that name.
type Buffer struct {
	Name  string
	Owner hostir.Owner
	// Shared says that peers may use it where the caller owns it; they may always
	// use what the plan owns.
	Shared bool
	// Output says that runs write it; the caller's other buffers are inputs.
	Output bool
	Bytes  int64
}

// Result says that row i of C is made of row i of A, all of B and, where it has a
// name, all of Bias.
type Result struct {
	C, A, B, Bias string
	RowC, RowA    int64 // bytes of a row
	// Sharded says that A's rows are spread over the ranks in order; else each rank
	// has all of them.
	Sharded bool
}

// Of is the model of a program for one mesh size and shape.
func Of(p *hostir.Program, c ops.Case) (Model, error) {
	env := hostir.Env{"D": int64(c.Ranks), "M": c.M, "K": c.K, "N": c.N}
	maps.Copy(env, p.Constants)
	m := Model{Program: p.Name, Semaphores: p.SemaphoreNames()}
	for _, b := range p.Buffers {
		n, err := b.Elements.Eval(env)
		if err != nil {
			return Model{}, fmt.Errorf("model %s: buffer %s: %w", p.Name, b.Name, err)
		}
		m.Buffers = append(m.Buffers, Buffer{Name: b.Name, Owner: b.Owner, Shared: b.Shared, Output: b.Name == "C", Bytes: n * c.ElementSize})
	}
	if err := m.expect(p, env, c.ElementSize); err != nil {
		return Model{}, fmt.Errorf("model %s: %w", p.Name, err)
	}
	return m, nil
}

// expect derives from the schedule's placements what each row of C is made of.
func (m *Model) expect(p *hostir.Program, env hostir.Env, size int64) error {
	r := Result{C: "C", A: "A", B: "B"}
	a, okA := p.Buffer("A")
	c, okC := p.Buffer("C")
	if _, okB := p.Buffer("B"); !okA || !okB || !okC {
		return fmt.Errorf("the program has no A, B or C, and what it computes is not known")
	}
	if _, ok := p.Buffer("Bias"); ok {
		r.Bias = "Bias"
	}
	axis, _, sharded := a.Tensor.Sharded()
	if sharded && axis != 0 {
		return fmt.Errorf("no rule says what C %s is made of where A is %s", c.Tensor, a.Tensor)
	}
	r.Sharded = sharded
	var err error
	if r.RowA, err = row(a.Tensor, env, size); err == nil {
		r.RowC, err = row(c.Tensor, env, size)
	}
	m.Result = &r
	return err
}

// row is the bytes of one index of a tensor's first axis.
func row(t schedule.Tensor, env hostir.Env, size int64) (int64, error) {
	for _, axis := range t.Axes[1:] {
		var n int64
		if v, ok := env[string(axis.Extent)]; ok {
			n = v
		} else if _, err := fmt.Sscan(string(axis.Extent), &n); err != nil {
			return 0, fmt.Errorf("extent %s of %s has no value", axis.Extent, t.Name)
		}
		size *= n
	}
	return size, nil
}

// buffer is a buffer of the model by name.
func (m *Model) buffer(name string) (Buffer, bool) {
	i := slices.IndexFunc(m.Buffers, func(b Buffer) bool { return b.Name == name })
	if i < 0 {
		return Buffer{}, false
	}
	return m.Buffers[i], true
}

func (m *Model) semaphore(name string) bool { return slices.Contains(m.Semaphores, name) }

// Memory that streams have, not programs.
const (
	stepPrefix      = "step["
	workspacePrefix = "workspace["
)

func ofStream(buffer string) bool {
	return strings.HasPrefix(buffer, stepPrefix) || strings.HasPrefix(buffer, workspacePrefix)
}
