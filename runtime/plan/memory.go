package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Memory is the device memory that a plan needs, as Shape.Memory of a generated package computes it before there is a
// group. Where ranks need different amounts, it is the largest.
type Memory struct {
	Buffers []BufferMemory // the caller's, in the order of Bind
	// Staging is in bytes of the arena. The plans of a group share it: the group needs the largest.
	Staging int64
	// Words are the 32-bit semaphore words of the arena that the plan keeps until its Close.
	Words int64
	// Packets is the bytes of the arena in which packets land. The plan keeps them until its Close.
	Packets int64
	// Workspaces is the number of streams that run products. Each has a workspace of driver.WorkspaceBytes. Plans of a
	// group share streams of one name and priority, and thus their workspaces.
	Workspaces int
	// Tuning is the memory, in bytes, that New allocates while it tunes or compares a product on a GPU or tries NCCL's
	// collectives, and then frees: the operands and a workspace of the largest product, or the data that the largest
	// collectives send and receive. NCCL allocates more memory, which is not counted here.
	Tuning int64
}

// BufferMemory is a buffer of the caller.
type BufferMemory struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"` // with uneven parts, the largest that counts may ask for
	// Shared says that peers use the buffer: a Bind of new memory for it is collective.
	Shared bool `json:"shared,omitempty"`
}

// Caller is the sum of the caller's buffers in bytes.
func (m Memory) Caller() (bytes int64) {
	for _, b := range m.Buffers {
		bytes += b.Bytes
	}
	return bytes
}

// Workspace is the size of the workspaces in bytes.
func (m Memory) Workspace() int64 { return int64(m.Workspaces) * driver.WorkspaceBytes }

// Beside adds the memory of a plan that needs n to m, which is then the memory that these plans take together in a
// group. They share the staging and the workspaces; each plan has separate words and packets.
func (m *Memory) Beside(n Memory) {
	m.Buffers = append(m.Buffers, n.Buffers...)
	m.Words, m.Packets = m.Words+n.Words, m.Packets+n.Packets
	m.Staging, m.Workspaces = max(m.Staging, n.Staging), max(m.Workspaces, n.Workspaces)
	m.Tuning = max(m.Tuning, n.Tuning)
}

// Arena is the least Config.Arena of a group with this plan alone, in bytes. For several, combine their Memory first.
func (m Memory) Arena() int64 { return group.ArenaBytes(m.Staging+m.Packets, m.Words) }

// String is one line: "A 8388608, C 16777216; staging 8388608, 8 words; workspaces 2 of
// 33554432; tuning 58720256", in bytes; with packets also "packets 65792".
func (m Memory) String() string {
	var buffers []string
	for _, b := range m.Buffers {
		buffers = append(buffers, fmt.Sprintf("%s %d", b.Name, b.Bytes))
	}
	packets := ""
	if m.Packets > 0 {
		packets = fmt.Sprintf(", packets %d", m.Packets)
	}
	return fmt.Sprintf("%s; staging %d%s, %d words; workspaces %d of %d; tuning %d",
		strings.Join(buffers, ", "), m.Staging, packets, m.Words, m.Workspaces, driver.WorkspaceBytes, m.Tuning)
}

// MarshalJSON writes the amounts and their sums, words and workspaces as numbers and all else in bytes, under the names
// that they have in C.
func (m Memory) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Buffers    []BufferMemory `json:"buffers"`
		Caller     int64          `json:"caller_bytes"`
		Staging    int64          `json:"staging_bytes"`
		Packets    int64          `json:"packets_bytes,omitempty"`
		Words      int64          `json:"words"`
		Arena      int64          `json:"arena_bytes"`
		Workspaces int            `json:"workspaces"`
		Workspace  int64          `json:"workspace_bytes"`
		Tuning     int64          `json:"tuning_bytes"`
	}{append([]BufferMemory{}, m.Buffers...), m.Caller(), m.Staging, m.Packets, m.Words, m.Arena(), m.Workspaces,
		m.Workspace(), m.Tuning})
}

// Measure is Memory of every generated package's Shape: the most device memory that any rank needs for a plan of the
// shape. declare is as for Make; Measure calls it for each rank, and makes no plan.
func Measure[P any](ranks int, prog *Program, s Shape, declare func(*Builder) P) (Memory, error) {
	if err := s.Check(ranks); err != nil {
		return Memory{}, err
	}
	var most Memory
	hosts := 1
	if prog.Hosts {
		hosts = ranks // no other number of hosts takes more
	}
	for r := range ranks {
		b := begin(r, ranks, hosts, prog, s.String())
		declare(b)
		m, err := b.measure()
		if err != nil {
			return Memory{}, err
		}
		if r == 0 {
			most = m
		}
		most.Cover(m)
	}
	return most, nil
}

// Cover raises each amount of m to the amount of n, which has the same buffers: m is then enough for either plan.
func (m *Memory) Cover(n Memory) {
	for i, f := range n.Buffers {
		m.Buffers[i].Bytes = max(m.Buffers[i].Bytes, f.Bytes)
	}
	m.Staging, m.Packets, m.Words = max(m.Staging, n.Staging), max(m.Packets, n.Packets), max(m.Words, n.Words)
	m.Workspaces, m.Tuning = max(m.Workspaces, n.Workspaces), max(m.Tuning, n.Tuning)
}

// measure is the memory that the builder's rank needs.
func (b *Builder) measure() (Memory, error) {
	p := b.plan
	if err := errors.Join(b.errs...); err != nil {
		return Memory{}, fmt.Errorf("measure %s: %w", p.program.Name, err)
	}
	for _, s := range p.semaphores {
		s.base = make([]driver.Ptr, p.Size())
	}
	if err := p.number(); err != nil {
		return Memory{}, fmt.Errorf("measure %s: %w", p.program.Name, err)
	}
	m := Memory{Tuning: p.tried}
	for _, f := range p.bindable {
		m.Buffers = append(m.Buffers, BufferMemory{f.name, f.bytes, f.shared})
	}
	for _, f := range p.staged {
		m.Staging += group.StagingBytes(f.bytes)
	}
	for _, s := range p.semaphores {
		m.Words += int64(s.words(p.Size()))
	}
	for _, x := range p.packets {
		m.Packets += x.size(p.Size())
	}
	for _, s := range p.streams {
		if s.multiply {
			m.Workspaces++
		}
	}
	for _, x := range p.products {
		m.Tuning = max(m.Tuning, x.scratch())
	}
	if len(p.collectives) > 0 {
		m.Tuning = max(m.Tuning, RehearsalBytes(p.rehearsal()))
	}
	return m, nil
}

// RehearsalBytes is the memory that New allocates to try collectives, for the largest bytes sent and received.
func RehearsalBytes(send, recv int64) int64 {
	return group.StagingBytes(send) + group.StagingBytes(recv)
}

// scratch is the memory that a driver allocates while it tunes the product.
func (p *Product) scratch() int64 {
	if p.empty() {
		return 0
	}
	m, size := RowsTried(int64(p.desc.M), p.desc.InOrder), p.desc.Type.Size()
	return TuningBytes(m, int64(p.desc.K), int64(p.desc.N), size, size)
}

// RowsTried is how many rows of a product a driver has room for while it tunes. In order it compares driver.OrderRows
// of them, at places of as many more, and keeps a result.
func RowsTried(m int64, inOrder bool) int64 {
	if inOrder {
		return max(m, 2*driver.OrderRows) + driver.OrderRows
	}
	return m
}

// TuningBytes is the memory that a driver allocates while it tunes a product of m by k and k by n elements. from is the
// size of an operand's element, to the size of a result's element. It holds operands, result, bias and workspace.
func TuningBytes(m, k, n, from, to int64) int64 {
	total := int64(driver.WorkspaceBytes)
	for _, operand := range []int64{m * k * from, k * n * from, m * n * to, n*to + 16} {
		total += group.StagingBytes(operand)
	}
	return total
}
