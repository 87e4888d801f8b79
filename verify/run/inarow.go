package run

import (
	"errors"

	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// mostInARow is the number of runs whose results are kept before the host looks at them.
const mostInARow = 10

// row makes several runs without a wait of the host between them, so that a rank may be a run ahead of its peers. Each
// run has new inputs, and enqueues the plan once, twice or three times in direct sequence.
func (c *checker) row(runs uint32) (first *harness.Mismatch, err error) {
	kept := map[string]driver.Ptr{} // the results of each run, one after the other
	for name, bytes := range c.Made() {
		at, err := c.r.drv.MemAlloc(mostInARow * bytes)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, c.r.drv.MemFree(at)) }()
		kept[name] = at
	}
	for from := uint32(0); from < runs && first == nil; from += mostInARow {
		to := min(from+mostInARow, runs)
		for i := from; i < to; i++ {
			if err := c.keep(i, kept, driver.Ptr(i-from)); err != nil {
				return nil, err
			}
		}
		for i := from; i < to && first == nil; i++ {
			if first, err = c.look(i, kept, driver.Ptr(i-from)); err != nil {
				return nil, err
			}
		}
	}
	return first, nil
}

// keep enqueues a run and a copy of its results.
func (c *checker) keep(run uint32, kept map[string]driver.Ptr, place driver.Ptr) error {
	s, in := c.r.Caller.Handle(), c.Inputs(run+draws[modeRow]<<20, false)
	if err := errors.Join(c.Spoil(s), c.Fill(in, s), c.disturb(c.r, run, s)); err != nil {
		return err
	}
	for range 1 + run%3 {
		if err := c.plan.Enqueue(s); err != nil {
			return err
		}
	}
	for name, bytes := range c.Made() {
		err := c.r.drv.MemcpyDtoDAsync(kept[name]+place*driver.Ptr(bytes), c.At[name], bytes, s)
		if err != nil {
			return err
		}
	}
	return nil
}

// look compares the kept results of a run.
func (c *checker) look(run uint32, kept map[string]driver.Ptr, place driver.Ptr) (*harness.Mismatch, error) {
	s, in := c.r.Caller.Handle(), c.Inputs(run+draws[modeRow]<<20, false)
	err := c.Fill(in, s)
	for name, bytes := range c.Made() {
		err = errors.Join(err, c.r.drv.MemcpyDtoDAsync(c.At[name], kept[name]+place*driver.Ptr(bytes), bytes, s))
	}
	if err != nil {
		return nil, err
	}
	m, err := c.Equal(in, s)
	if m != nil {
		m.Rank, m.Run = c.r.Rank(), int(run)+1
	}
	return m, err
}
