package plan

import (
	"encoding/json"
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// bound is what a bound plan says of itself on one rank (see group.Config.Dump).
type bound struct {
	Plan    string      `json:"plan"` // "plan 3 (allgatherlinear)"
	Rank    int         `json:"rank"`
	Ranks   int         `json:"ranks"`
	Shape   string      `json:"shape"`
	Hash    string      `json:"hash"`
	Proof   string      `json:"proof"`
	Parts   *components `json:"parts,omitempty"`
	Steps   []stepSaid  `json:"steps,omitempty"`
	Enqueue []operation `json:"ops,omitempty"`
}

// components are what a plan consists of.
type components struct {
	Chosen     string           `json:"chosen,omitempty"` // by package tuned: the schedule, and why
	Buffers    []bufferSaid     `json:"buffers"`
	Semaphores []semaphoresSaid `json:"semaphores,omitempty"`
	Streams    []streamSaid     `json:"streams"`
	Products   []productSaid    `json:"products,omitempty"`
	Kernels    []string         `json:"kernels,omitempty"`
}

type bufferSaid struct {
	Name  string    `json:"name"`
	Kind  string    `json:"kind"` // caller, shared or staged
	Bytes int64     `json:"bytes"`
	At    []address `json:"at"` // by rank, as mapped here
}

type semaphoresSaid struct {
	Name  string    `json:"name"`
	Words int       `json:"words"` // of a rank
	At    []address `json:"at"`
}

type streamSaid struct {
	Name      string  `json:"name"`
	Priority  int     `json:"priority"`
	Handle    address `json:"handle"`
	Step      address `json:"step"`
	Workspace address `json:"workspace,omitempty"`
}

type productSaid struct {
	Product   string `json:"product"`
	Algorithm string `json:"algorithm"`
}

type stepSaid struct {
	Number int    `json:"number"`
	Stream string `json:"stream"`
	Text   string `json:"text"`
}

// address is one, or a handle, in hexadecimal digits.
type address uintptr

// String is "0x7f00", and "-" of what is not mapped here.
func (a address) String() string {
	if a == 0 {
		return "-"
	}
	return fmt.Sprintf("%#x", uintptr(a))
}

// MarshalText is String, for JSON.
func (a address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

func addresses(at []driver.Ptr) (list []address) {
	for _, p := range at {
		list = append(list, address(p))
	}
	return list
}

// dump writes what the group's Config.Dump asks for, once the plan is bound.
func (p *Plan) dump() error {
	d := p.group.Dumps()
	if !d.Any() {
		return nil
	}
	said := bound{Plan: p.String(), Rank: p.rank, Ranks: p.ranks, Shape: p.shape, Hash: p.program.Hash,
		Proof: p.program.Proof}
	if d.Plans {
		said.Parts = p.components()
	}
	if d.Host {
		said.Steps = stepsOf(p.steps)
	}
	if d.Ops {
		list, err := p.list()
		if err != nil {
			return err
		}
		said.Enqueue = list
	}
	if !d.JSON {
		return d.Write([]byte(said.text()))
	}
	line, err := json.Marshal(said)
	if err != nil {
		return fmt.Errorf("write %s as JSON: %w", p, err)
	}
	return d.Write(append(line, '\n'))
}

func stepsOf(steps []group.Step) (list []stepSaid) {
	for _, s := range steps {
		list = append(list, stepSaid{s.Number, s.Stream, s.Text})
	}
	return list
}

func (p *Plan) components() *components {
	c := &components{Chosen: p.chosen}
	for _, buffers := range [][]*Buffer{p.bindable, p.staged} {
		for _, b := range buffers {
			kind := "staged"
			switch {
			case b.shared:
				kind = "shared"
			case slices.Contains(p.bindable, b):
				kind = "caller"
			}
			c.Buffers = append(c.Buffers, bufferSaid{b.name, kind, b.size(p.rank), addresses(b.at)})
		}
	}
	for _, s := range p.semaphores {
		c.Semaphores = append(c.Semaphores, semaphoresSaid{s.name, s.words(p.ranks), addresses(s.base)})
	}
	for _, s := range p.streams {
		c.Streams = append(c.Streams, streamSaid{s.String(), int(s.priority), address(s.own), address(s.step),
			address(s.workspace)})
	}
	for _, m := range p.products {
		if !m.empty() {
			c.Products = append(c.Products, productSaid{m.String(), p.driver.MatmulAlgorithm(m.handle)})
		}
	}
	for _, k := range p.kernels {
		c.Kernels = append(c.Kernels, k.name)
	}
	return c
}

// String is "bf16 C[512,1024] = A[512,64] * B[1024,64]ᵀ + bias, gelu".
func (p *Product) String() string {
	d := p.desc
	a, b := fmt.Sprintf("A[%d,%d]", d.M, d.K), fmt.Sprintf("B[%d,%d]", d.K, d.N)
	if d.TransposedA {
		a = fmt.Sprintf("A[%d,%d]ᵀ", d.K, d.M)
	}
	if d.Transposed {
		b = fmt.Sprintf("B[%d,%d]ᵀ", d.N, d.K)
	}
	text := fmt.Sprintf("%s C[%d,%d] = %s * %s", d.Type, d.M, d.N, a, b)
	if d.Accumulate {
		text = fmt.Sprintf("%s C[%d,%d] += %s * %s", d.Type, d.M, d.N, a, b)
	}
	if d.Bias {
		text += " + bias"
	}
	if d.Func != "" {
		text += ", " + string(d.Func)
	}
	return text
}
