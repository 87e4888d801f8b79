package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/docs/examples/llama/kernels"
	"ovgen/runtime/driver"
	"ovgen/runtime/driver/around"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
	"ovgen/verify/touch"
)

// TestReadsAhead: no operation of a step writes the rows or the cache of a layer ahead of this layer's decodefew, which
// may read both while all operations of its graph that are ahead of it still run.
func TestReadsAhead(t *testing.T) {
	for _, c := range []Config{Tiny, tinyOf("qwen3")} {
		dir, _ := tiny(t, c)
		m, err := small.in(dir).Open()
		if err != nil {
			t.Fatal(err)
		}
		var watchers [2]*writers
		synctest.Test(t, func(t *testing.T) {
			world := simtest.Config{Config: sim.Config{Devices: len(watchers)}, Change: func(c *group.Config) {
				watchers[c.Rank] = newWriters(c.Driver)
				c.Arena, c.Driver = m.Needs.Arena(), watchers[c.Rank]
			}}
			if err := simtest.Run(t.Context(), world, func(ctx context.Context, g *group.Group) error {
				r, err := m.load(ctx, g)
				if err != nil {
					return err
				}
				return r.Close(ctx)
			}); err != nil {
				t.Error(err)
			}
		})
		for rank, w := range watchers {
			if w.seen < c.Layers || w.most == 0 {
				t.Fatalf("rank %d: decodefew or what writes ahead of it was not seen (%d, %d)", rank, w.seen, w.most)
			}
			if w.ahead != nil {
				t.Errorf("rank %d: %v", rank, w.ahead)
			}
		}
	}
}

// writers is a rank's driver that keeps the memory that operations of a capture write.
type writers struct {
	driver.Decorator
	codes    map[driver.Module]*driver.Code
	kernels  map[driver.Function]*driver.Kernel
	products map[driver.Product]driver.MatmulDesc
	writes   []written // of the graph so far
	seen     int       // launches of decodefew
	most     int       // writes ahead of one
	ahead    error     // writes of what one reads ahead
}

// written is memory that an operation writes.
type written struct {
	by    string
	at    driver.Ptr
	bytes int64
}

func newWriters(d driver.Driver) *writers {
	w := &writers{codes: map[driver.Module]*driver.Code{}, kernels: map[driver.Function]*driver.Kernel{},
		products: map[driver.Product]driver.MatmulDesc{}}
	w.Driver = around.New(d, w.each)
	return w
}

// each adds what an operation writes.
func (w *writers) each(c *around.Call) error {
	if !c.Enqueues || c.Name == "GraphLaunch" {
		return c.Pass()
	}
	switch c.Name {
	case "LaunchKernel":
		if err := w.launch(w.kernels[c.Function], c); err != nil {
			return err
		}
	case "Matmul":
		d := w.products[c.Product]
		w.add("a product", c.Operands.C, int64(d.M*d.N)*d.Type.Size())
		w.add("a product", c.Operands.Workspace, driver.WorkspaceBytes)
	case "MemcpyDtoDAsync", "Memcpy2DAsync":
		w.add("a copy", c.Copy.Dst, (c.Copy.Height-1)*c.Copy.DstPitch+c.Copy.Width)
	case "StreamBatchMemOp":
		for _, x := range c.Items {
			w.add("a word", x.Address, 4)
		}
	default:
		return fmt.Errorf("nothing says what %s writes", c.Name)
	}
	return c.Pass()
}

func (w *writers) add(by string, at driver.Ptr, bytes int64) {
	w.writes = append(w.writes, written{by, at, bytes})
}

// launch compares the memory that decodefew reads ahead with the writes before it, and keeps a kernel's writes.
func (w *writers) launch(k *driver.Kernel, c *around.Call) error {
	if name, typ, _ := strings.Cut(k.Name, "_"); name == "decodefew" {
		p, size := (*kernels.Params)(c.Params), 2
		if typ == driver.FP32.String() {
			size = 4
		}
		if p.Count > 0 {
			w.seen++
			w.most = max(w.most, len(w.writes))
		}
		cache := int64(p.Places * p.Room * p.Keys * p.Size * size)
		w.reads("rows", p.Rows, int64(p.Count*kernels.RowBytes))
		w.reads("keys", p.CacheKeys, cache)
		w.reads("values", p.CacheValues, cache)
	}
	of, err := touch.Of(k)
	if err != nil || of == nil {
		return errors.Join(err, fmt.Errorf("what kernel %s writes is not known", k.Name))
	}
	for _, x := range of(c.Params, nil) {
		if x.Kind != touch.Read {
			x.Each(func(at driver.Ptr, bytes int64) { w.add(k.Name, at, bytes+x.Half) })
		}
	}
	return nil
}

// reads keeps an error where memory that is read ahead was written.
func (w *writers) reads(what string, at driver.Ptr, bytes int64) {
	for _, x := range w.writes {
		if x.at < at+driver.Ptr(bytes) && at < x.at+driver.Ptr(x.bytes) {
			w.ahead = errors.Join(w.ahead, fmt.Errorf("%s writes %s that decodefew reads ahead", x.by, what))
		}
	}
}

// StreamBeginCapture begins a graph, which starts when the one before has ended.
func (w *writers) StreamBeginCapture(s driver.Stream) error {
	w.writes = nil
	return w.Driver.StreamBeginCapture(s)
}

// ModuleLoadData keeps a code.
func (w *writers) ModuleLoadData(c *driver.Code) (driver.Module, error) {
	m, err := w.Driver.ModuleLoadData(c)
	w.codes[m] = c
	return m, err
}

// ModuleGetFunction keeps what its code says of a kernel.
func (w *writers) ModuleGetFunction(m driver.Module, name string) (driver.Function, error) {
	f, err := w.Driver.ModuleGetFunction(m, name)
	for i := range w.codes[m].Kernels {
		if k := &w.codes[m].Kernels[i]; k.Name == name {
			w.kernels[f] = k
		}
	}
	return f, err
}

// MatmulCreate keeps the shape of a product.
func (w *writers) MatmulCreate(d driver.MatmulDesc) (driver.Product, error) {
	p, err := w.Driver.MatmulCreate(d)
	w.products[p] = d
	return p, err
}
