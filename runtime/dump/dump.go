package dump

import (
	"encoding/json"
	"fmt"
	"io"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/launcher"
	"ovgen/runtime/plan"
)

// bound is the dump of a bound plan on one rank (see group.Config.Dump).
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

// components are the parts of a plan.
type components struct {
	Chosen     string           `json:"chosen,omitempty"` // by package tuned: the schedule, and the reason
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

// address is an address, or a handle, in hexadecimal digits.
type address uintptr

// String is "0x7f00", or "-" for memory that is not mapped here.
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

// write writes the parts of a bound plan that the words ask for.
func (w words) write(p *plan.Plan, to io.Writer) error {
	said := bound{Plan: p.String(), Rank: p.Rank(), Ranks: p.Size(), Shape: p.Shape(), Hash: p.Program().Hash,
		Proof: p.Program().Proof}
	if w.plans {
		said.Parts = componentsOf(p)
	}
	if w.host {
		said.Steps = stepsOf(p.Steps())
	}
	if w.ops {
		list, err := list(p)
		if err != nil {
			return err
		}
		said.Enqueue = list
	}
	text := []byte(said.text())
	if w.json {
		line, err := json.Marshal(said)
		if err != nil {
			return fmt.Errorf("write %s as JSON: %w", p, err)
		}
		text = append(line, '\n')
	}
	if _, err := to.Write(text); err != nil {
		return fmt.Errorf("write what %s asks for: %w", launcher.EnvDump, err)
	}
	return nil
}

func stepsOf(steps []group.Step) (list []stepSaid) {
	for _, s := range steps {
		list = append(list, stepSaid{s.Number, s.Stream, s.Text})
	}
	return list
}

func componentsOf(p *plan.Plan) *components {
	parts := p.Components()
	c := &components{Chosen: parts.Chosen}
	for _, b := range parts.Buffers {
		c.Buffers = append(c.Buffers, bufferSaid{b.Name, b.Kind, b.Bytes, addresses(b.At)})
	}
	for _, s := range parts.Semaphores {
		c.Semaphores = append(c.Semaphores, semaphoresSaid{s.Name, s.Words, addresses(s.At)})
	}
	for _, s := range parts.Streams {
		c.Streams = append(c.Streams, streamSaid{s.Name, int(s.Priority), address(s.Handle), address(s.Step),
			address(s.Workspace)})
	}
	for _, m := range parts.Products {
		if m.Handle != 0 {
			c.Products = append(c.Products, productSaid{product(m.Desc), p.Group().Driver().MatmulAlgorithm(m.Handle)})
		}
	}
	for _, k := range parts.Kernels {
		c.Kernels = append(c.Kernels, k.Name)
	}
	return c
}

// product is "bf16 C[512,1024] = A[512,64] * B[1024,64]ᵀ + bias, gelu".
func product(d driver.MatmulDesc) string {
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
