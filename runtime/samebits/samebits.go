// Package samebits compares, at New, the bits of products by kernels of tiles with the library's. Packages of Invariant
// schedules whose kernels make tiles import it.
package samebits

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/runtime/plan"
)

// Tiles has New compare, for each kernel of a kind that can make the product d of a shard, the bits of rows of random
// numbers with those that the library gives them in order. New fails where they differ. Nothing is exchanged: the rank
// plays its peer too, in memory that it frees.
func Tiles(b *plan.Builder, code *driver.Code, kind kernels.Kind, d driver.MatmulDesc) {
	d.M, d.InOrder = rows, true
	x := layOut(d)
	b.Try(x.bytes, func(on driver.Driver, m driver.Module, s driver.Stream) error {
		t := trial{Driver: on, memory: x, module: m, stream: s}
		if err := t.once(code, kind); err != nil {
			return fmt.Errorf("compare tiles of %dx%d %s with the library: %w", d.K, d.N, d.Type, err)
		}
		return nil
	})
}

// DifferError says that an element of a result has other bits by a kernel of tiles than by the library. A caller may
// take another package of the same operations.
type DifferError struct {
	Row, Column       int
	Tiles, Library    uint16 // the element's bits
	Algorithm, Device string // of the library; the device and its CUDA
	Version           string // of the library, with its name; empty where the driver names none
}

func (e *DifferError) Error() string {
	library := cmp.Or(e.Version, "the library")
	return fmt.Sprintf("column %d of row %d has bits %#04x, and %#04x by algorithm %s of %s, on %s (leave Invariant "+
		"out, or take another way than Tiles)", e.Column, e.Row, e.Tiles, e.Library, e.Algorithm, library, e.Device)
}

// comparison is what the outcome depends on.
type comparison struct {
	device    driver.UUID
	algorithm string // of the library
	source    string // of the kernels
	kind      kernels.Kind
	desc      driver.MatmulDesc
}

// same has the comparisons of this process that found equal bits.
var same sync.Map

// once compares unless this process has.
func (t *trial) once(code *driver.Code, kind kernels.Kind) (err error) {
	if t.product, err = t.MatmulCreate(t.desc); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.MatmulDestroy(t.product)) }()
	c := comparison{t.Properties().UUID, t.MatmulAlgorithm(t.product), code.Source, kind, t.desc}
	if _, done := same.Load(c); done {
		return nil
	}
	list := made(code, kind, t.desc)
	if len(list) == 0 {
		return fmt.Errorf("no kernel of the package makes it")
	}
	if err = t.compare(list); err == nil {
		same.Store(c, true)
	}
	return err
}

// kernel is a kernel of a package, as drivers know it and by its row of the table.
type kernel struct {
	code driver.Kernel
	kernels.Row
}

// made are the kernels of a kind that make a product.
func made(code *driver.Code, kind kernels.Kind, d driver.MatmulDesc) (list []kernel) {
	for _, k := range code.Kernels {
		row, ok := k.Row.(kernels.Row)
		if ok && row.Kind == kind && row.Type == d.Type && row.Bias == d.Bias {
			list = append(list, kernel{k, row})
		}
	}
	return list
}
